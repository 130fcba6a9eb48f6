const done = request => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
})

/** Opens the database with the stores `record` and `keys`. */
export function open() {
    const request = indexedDB.open("sojourn", 1)
    request.onupgradeneeded = () => {
        for (const name of ["record", "keys"]) request.result.createObjectStore(name)
    }
    return done(request)
}

/** The record, or undefined if there certainly is none. An error is no answer: nothing is deleted, and no login shown. */
export const load = database => done(database.transaction("record").objectStore("record").get("default"))

/** Writes `next` if the stored record still has the version `expected`. Durable when it returns true. */
export function replace(database, expected, next) {
    return new Promise((resolve, reject) => {
        const transaction = database.transaction("record", "readwrite", {durability: "strict"})
        const records = transaction.objectStore("record")
        let isFirst = false
        records.get("default").onsuccess = event => {
            isFirst = event.target.result?.version === expected
            if (isFirst) records.put({...next, version: crypto.randomUUID()}, "default")
        }
        transaction.oncomplete = () => resolve(isFirst)
        transaction.onabort = () => reject(transaction.error)
    })
}
