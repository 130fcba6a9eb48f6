"""mozilla-django-oidc (PyPI), a library of Django: login with PKCE and RS256, checks with `prompt=none` whether the browser is
still logged in, and a logout at both ends."""

from program import MAIL, USER, Stage, make_client, make_user, sessions
import stage

APPLICATION = '''
from django.conf import settings
from django.http import HttpResponse
from django.urls import include, path
from urllib.parse import urlencode

KNOWN = {known}


def sign_out(request):
    """The page that ends the session at the provider."""
    return KNOWN["end_session_endpoint"] + "?" + urlencode(dict(
        id_token_hint=request.session["oidc_id_token"], post_logout_redirect_uri="{origin}/"))


settings.configure(
    DEBUG=False, SECRET_KEY="a-long-random-text-of-the-application", ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF="application",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "mozilla_django_oidc"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware",
        "mozilla_django_oidc.middleware.SessionRefresh"],
    DATABASES={{"default": {{"ENGINE": "django.db.backends.sqlite3", "NAME": "django.sqlite"}}}},
    AUTHENTICATION_BACKENDS=["mozilla_django_oidc.auth.OIDCAuthenticationBackend"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", USE_TZ=True,
    OIDC_RP_CLIENT_ID="django", OIDC_RP_CLIENT_SECRET="{secret}", OIDC_RP_SIGN_ALGO="RS256", OIDC_USE_PKCE=True,
    OIDC_OP_AUTHORIZATION_ENDPOINT=KNOWN["authorization_endpoint"], OIDC_OP_TOKEN_ENDPOINT=KNOWN["token_endpoint"],
    OIDC_OP_USER_ENDPOINT=KNOWN["userinfo_endpoint"], OIDC_OP_JWKS_ENDPOINT=KNOWN["jwks_uri"],
    OIDC_STORE_ID_TOKEN=True, OIDC_OP_LOGOUT_URL_METHOD="application.sign_out", ALLOW_LOGOUT_GET_METHOD=True,
    LOGGING={{
        "version": 1, "disable_existing_loggers": False, "handlers": {{"all": {{"class": "logging.StreamHandler"}}}},
        "root": {{"handlers": ["all"]}}}},
    LOGIN_REDIRECT_URL="/", LOGOUT_REDIRECT_URL="/", OIDC_EXEMPT_URLS=["later"],
)


def home(request):
    if request.user.is_authenticated:
        return HttpResponse(f"<p>Hello, {{request.user.email}}.</p><a href='/oidc/logout/'>Log out</a>")
    return HttpResponse("<p>Nobody is here.</p><a href='/oidc/authenticate/'>Log in</a>")


def later(request):
    """The clock of the library, a quarter of an hour later."""
    request.session["oidc_id_token_expiration"] = 0
    return HttpResponse("later")


urlpatterns = [path("", home), path("later", later, name="later"), path("oidc/", include("mozilla_django_oidc.urls"))]
'''
MANAGE = """
import sys

import application
import django
from django.core.management import execute_from_command_line

django.setup()
execute_from_command_line(sys.argv)
"""


def main():
    make_user()
    with Stage("django") as on:
        secret = make_client(
            "django", on.origin + "/oidc/callback/", token_endpoint_auth_method="client_secret_post",
            id_token_signed_response_alg="RS256", post_logout_redirect_uris=[on.origin + "/"])
        on.write("application.py", APPLICATION.format(known=stage.metadata(), origin=on.origin, secret=secret))
        on.write("manage.py", MANAGE)
        python = on.executable("python")
        on.run(python, "manage.py", "migrate")
        on.start(python, "manage.py", "runserver", "--noreload", f"127.0.0.1:{on.port}", until=on.origin)
        on.driver.get(on.origin)
        on.by("a").click()
        on.fill_page()
        on.until_text(f"Hello, {MAIL}.")
        on.picture("inside")

        # The request goes to the server and back, without a page.
        for _ in range(3):
            on.driver.get(on.origin + "/later")
            on.driver.get(on.origin)
            on.until_text(f"Hello, {MAIL}.")

        # The checks begin no session of their own.
        assert len(sessions("django")) == 1, sessions("django")

        # When an admin has ended the user's sessions, the next check says so.
        stage.admin("POST", f"/users/username:{USER}/revoke", {})
        on.driver.get(on.origin + "/later")
        on.driver.get(on.origin)
        on.until_text("Nobody is here.")

        on.by("a").click()
        on.fill_page()
        on.until_text(f"Hello, {MAIL}.")
        on.by("a").click()
        on.until_text("Nobody is here.")
        assert sessions("django") == [], sessions("django")
        on.by("a").click()
        on.until_page()


main()
