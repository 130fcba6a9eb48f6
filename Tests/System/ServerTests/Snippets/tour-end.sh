sojourn session list anna
SESSION=$(sojourn session list anna --json | python3 -c 'import json, sys
print(next(one["session_id"] for one in json.load(sys.stdin)["items"] if one["client_id"] == "tour" and "ended_at" not in one))')
curl -X DELETE "http://127.0.0.1:8081/admin/v1/sessions/$SESSION" -H "Authorization: Bearer $SOJOURN_ADMIN_KEY"
