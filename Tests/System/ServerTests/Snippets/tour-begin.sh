export SOJOURN_ADMIN_KEY=$(openssl rand -hex 32)
sojourn serve --issuer http://localhost:8080 --ready-file ready.json &
until [ -e ready.json ]; do sleep 0.1; done

echo 'correct horse battery staple' | sojourn user create anna
sojourn client create tour --name 'The tour' --grants authorization_code,refresh_token --scope 'openid profile' \
    --redirect-uris http://127.0.0.1:9000/callback --browser-session client \
    --backchannel-logout-uri http://127.0.0.1:9000/logout
python3 tour-app.py http://localhost:8080 &
