// Shows the passkey button where the browser knows passkeys, and offers them in the field of the username.
const form = document.getElementById("passkey");
const button = form.querySelector("[data-options]");
const known = globalThis.PublicKeyCredential;
let pending;

async function ask(mediation) {
  pending?.abort();
  pending = new AbortController();
  const publicKey = known.parseRequestOptionsFromJSON(JSON.parse(button.dataset.options));
  try {
    const credential = await navigator.credentials.get({ publicKey, mediation, signal: pending.signal });
    const box = document.querySelector("[type=checkbox][name=remember]");
    if (box && box.form !== form) form.elements.remember.value = box.checked ? "1" : "";
    form.elements.credential.value = JSON.stringify(credential);
    form.requestSubmit();
  } catch (error) {
    // Cancelled, or not for this address: the other ways are still there.
    console.info("passkey:", error.name);
  }
}

if (known?.parseRequestOptionsFromJSON) {
  form.parentElement.hidden = false;
  document.getElementById("no-passkeys")?.remove();
  const offer = document.querySelector("[name=offer]");
  if (offer && (await known.isUserVerifyingPlatformAuthenticatorAvailable())) offer.value = "1";
  button.addEventListener("click", () => ask());
  if (await known.isConditionalMediationAvailable?.()) ask("conditional");
}
