// A page that stands still: a synchronous request that its host does not answer. Nothing of the page runs meanwhile.

const parameters = new URLSearchParams(location.search)
export const control = parameters.get("control")
export const name = parameters.get("name")

export function stop(kind) {
    const request = new XMLHttpRequest()
    request.open("POST", `${control}/stop/${name}/${kind}`, false)
    request.send("")
}
