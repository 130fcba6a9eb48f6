// An app without a server, as the manual shows it.

import {Sojourn, WebPasskeys} from "/entry.js"

const settings = await (await fetch("/settings.json")).json()
const show = (place, value) => { document.getElementById(place).textContent = JSON.stringify(value) }
const result = (promise) => promise.then(
    (account) => show("result", {user: account.username}),
    (error) => show("result", {error: error.kind, code: error.refusal?.code ?? null}))

const redirectURI = location.pathname.startsWith("/coop") ? "/coop/callback" : "/callback"
const sojourn = new Sojourn(settings)
let canceling
sojourn.onState((state) => show("state", state))
document.getElementById("redirect").onclick = () => void result(sojourn.signIn({page: {redirectURI}}))
document.getElementById("popup").onclick = () => {
    canceling = new AbortController()
    void result(sojourn.signIn({page: {redirectURI, prompt: "login"}, popup: true, signal: canceling.signal}))
}
document.getElementById("phone").onclick = () => {
    canceling = new AbortController()
    // The app draws the text of the picture with the library of its choice, and shows the number in large digits.
    void result(sojourn.signInByPhone({onChange: (event) => show("picture", event), signal: canceling.signal}))
}
document.getElementById("cancel").onclick = () => canceling.abort()
document.getElementById("leave").onclick = () => void sojourn.signOut()
addEventListener("pageshow", (event) => { window.isFromCache = event.persisted })

await sojourn.start()
if (sojourn.isCallback(location.href)) {
    // Frameworks run effects twice.
    void result(sojourn.signIn({callback: location.href}))
    void result(sojourn.signIn({callback: location.href}))
}
Object.assign(window, {sojourn, Sojourn, WebPasskeys, settings, isReady: true})
