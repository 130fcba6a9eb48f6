import json, jwt, threading, time, urllib.request

class Verifier:
    CUTS = "client_", "all_", "lifetimes_"      # all of these count; of the others the last word does

    def __init__(self, issuer, audience, jwks_url, feed_url, key):
        self.issuer, self.audience, self.feed_url, self.fields = issuer, audience, feed_url, {"Authorization": "Bearer " + key}
        self.jwks, self.over, self.cuts, self.heard = jwt.PyJWKClient(jwks_url), {}, [], 0
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self, cursor=""):
        while True:
            try:
                request = urllib.request.Request(f"{self.feed_url}?cursor={cursor}&wait={30 if self.heard else 0}", headers=self.fields)
                page = json.load(urllib.request.urlopen(request, timeout=40))
                items = [item for item in [*self.over.values(), *self.cuts, *page["items"]] if item["until"] > time.time()]
                self.over = {item.get("sid") or item["sub"]: item for item in items if not item["type"].startswith(self.CUTS)}
                self.cuts, cursor = [item for item in items if item["type"].startswith(self.CUTS)], page["next_cursor"]
                if not page["has_more"]: self.heard = time.time()
            except Exception as error:                                # cut off: again, from the cursor on
                if getattr(error, "code", None) == 410: cursor, self.over, self.cuts, self.heard = "", {}, [], 0
                time.sleep(1)

    def verify(self, token):
        if time.time() - self.heard > 60: raise jwt.InvalidTokenError("the feed is silent")
        claims = jwt.decode(token, self.jwks.get_signing_key_from_jwt(token), algorithms=["ES256", "EdDSA"],
                            issuer=self.issuer, audience=self.audience, options={"require": ["exp", "iat", "sub"]})
        if "cnf" in claims or jwt.get_unverified_header(token).get("typ") != "at+jwt": raise jwt.InvalidTokenError("no bearer token")
        def reaches(item):                                            # a client's own tokens have no "sid"
            if item["type"] == "client_tokens_ended": return "sid" not in claims and claims.get("epoch", 0) < item["epoch"]
            if item["type"] == "client_token_revoked": return "sid" not in claims and claims.get("jti") == item["jti"]
            return claims["iat"] <= item["at"] and ("sid" in claims or item["type"] == "client_deleted")
        cuts = [item for item in self.cuts if item.get("sub") in (None, claims["sub"])
                and item.get("client_id") in (None, claims.get("client_id")) and reaches(item)]
        for item in [self.over.get(claims.get("sid")), self.over.get(claims["sub"]), *cuts]:
            spares = item and (item["type"] == "user_unblocked" or item["type"] == "user_deleted" and claims["iat"] > item["at"])
            if item and not spares: raise jwt.InvalidTokenError(item["type"])
        return claims
