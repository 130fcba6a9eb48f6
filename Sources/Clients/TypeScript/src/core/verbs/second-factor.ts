// A login with a right first proof, which waits for a second one.

import type {Account} from "../state.js"

/** An authenticator app that is being added. The server forgets it after ten minutes without `confirm`. */
export interface NewAuthenticator {
    id: string
    /** The secret in Base32, for typing. */
    secret: string
    /** The secret as `otpauth:`, for a link or a picture. */
    uri: string
    /**
     * Adds the authenticator by its first code, and ends the login to which it was added. The first authenticator of a user brings
     * recovery codes, which are shown once.
     */
    confirm(code: string): Promise<string[]>
}

export interface SecondSteps {
    byCode(code: string): Promise<Account>
    byPasskey(): Promise<Account>
    add(name: string, login: SecondFactorLogin): Promise<NewAuthenticator>
}

/** Lasts for five minutes, in memory: after a new start of the app the user begins again with the first proof. */
export class SecondFactorLogin {
    /**
     * @param methods The ways that the server takes: `totp`, `passkey`, `recovery_code`, and later ones. None: the policy demands a
     *     second factor, and the user has none; `addAuthenticator` adds it to this login then.
     */
    constructor(readonly methods: string[], private readonly steps: SecondSteps) {}

    /**
     * Ends the login by the code of an authenticator app, or by a recovery code. Throws `refused` with the code
     * `wrong_second_factor`: another try with this value is possible.
     */
    confirm(code: string): Promise<Account> {
        return this.steps.byCode(code)
    }

    /** Ends the login by a passkey, which is both factors: the session is a new one. */
    confirmByPasskey(): Promise<Account> {
        return this.steps.byPasskey()
    }

    /** Adds an authenticator app to a login without `methods`. Its `confirm` ends the login then. */
    addAuthenticator(name: string): Promise<NewAuthenticator> {
        return this.steps.add(name, this)
    }
}
