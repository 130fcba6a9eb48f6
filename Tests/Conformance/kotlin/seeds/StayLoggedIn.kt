// The Kotlin passage of seed 000, word for word, with our events behind its names. `KotlinClientTests` compiles it.

package org.sojourn.seeds

import org.sojourn.events.OfflineLoginEvent
import org.sojourn.events.SynchronousEventHandler
import org.sojourn.events.UserIdentifier

/** What the passage finds around it in an app. */
class StayLoggedIn(private val synchronousEventHandler: SynchronousEventHandler?) {
    val log = ArrayList<String>()

    private fun logDebug(text: String, place: String) {
        log.add("$place: $text")
    }

    // Begin of the passage.
fun triggerOfflineLoginEvent(userIdentifier: UserIdentifier) {
val offlineLoginEvent = OfflineLoginEvent(userIdentifier)
synchronousEventHandler?.postEvent(offlineLoginEvent)?.then {
logDebug("received OfflineLoginResultEvent: $it", "triggerOfflineLoginEvent")
// handle result
}
}
    // End of the passage.
}
