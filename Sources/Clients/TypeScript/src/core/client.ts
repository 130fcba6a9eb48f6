// Keeps a user signed in.

import {misconfigured} from "./errors.js"
import {LoginPage} from "./verbs/login-page.js"
import {PhoneLogins} from "./verbs/phone-login.js"
import {LoginPresenter} from "./platform.js"
import {Account, AuthenticationMode} from "./state.js"
import {Verification} from "./verbs/verifications.js"

/** How a user signs in. `mode` says how the app guards the session. */
export type SignIn = {mode?: AuthenticationMode} & (
    | {username: string; password: string}
    /** An ID token of an identity provider. `nonce` is what the app sent to the provider for this token. */
    | {idToken: string; provider: string; nonce?: string; providerRefreshToken?: string}
    | {passkey: true}
    /** The server's page, shown by `through`. */
    | {page: LoginPage; through?: LoginPresenter}
    /** The URL with which the browser came back from a page that `beginSignIn` or a redirect had opened. */
    | {callback: string}
    /** The code of such a URL alone, for an app that has checked `state` and `iss` itself. */
    | {authorizationCode: string; state: string}
    /** The code of the mail that `signIn({emailCodeFor})` has had sent. */
    | {code: string}
)

/**
 * `start()` at each launch, `onState` for what to show, `signIn` and `signOut`, and `fetch` or `accessToken()` for calls to APIs: that
 * is all of it. Renewals, retries, lost answers, several tabs on one store and wrong clocks are dealt with inside. Only the states
 * `signedOut` and `ended` mean that the login is to be shown.
 */
export class SojournClient extends PhoneLogins {
    /** Begins a login by a code that the server sends to the mailbox. `signIn({code})` ends it. */
    signIn(how: {emailCodeFor: string}): Promise<Verification>
    /** Signs a user in. A session of the same user on this device goes on with its keys. */
    signIn(how: SignIn): Promise<Account>
    async signIn(how: SignIn | {emailCodeFor: string}): Promise<Account | Verification> {
        if ("emailCodeFor" in how) return await this.ask("sign_in", how.emailCodeFor)
        const mode = how.mode ?? "NO"
        if ("username" in how) return await this.logIn(this.passwordOf(how.username, how.password), {mode})
        if ("idToken" in how) {
            return await this.logIn(this.idTokenOf(how.idToken, how.provider, how.nonce, how.providerRefreshToken), {mode})
        }
        if ("passkey" in how) return await this.signInByPasskey({mode})
        if ("callback" in how) return await this.signInByCallback(how.callback)
        if ("authorizationCode" in how) return await this.signInByCode(how.authorizationCode, how.state, how.mode)
        if ("code" in how) return await this.signInByMailedCode(how.code, {mode})
        if (!how.through) throw misconfigured("the login page needs a presenter, or beginSignIn")
        return await this.signInThrough(how.through, how.page, mode)
    }
}
