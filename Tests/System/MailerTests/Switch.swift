import Locks

/// Something that a test turns off while a relay asks for it.
final class Switch: Sendable {
    private let value = Locked(true)

    var isOn: Bool {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
