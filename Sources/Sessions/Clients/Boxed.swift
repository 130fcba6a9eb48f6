/// A value on the heap, so that a copy of what holds it costs one reference: a refresh copies a client several times, and looks at
/// few of its members. A change makes a new box.
@propertyWrapper public struct Boxed<Value: Hashable & Sendable>: Hashable, Sendable {
    private final class Box: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    /// A box of that value.
    public init(wrappedValue: Value) { box = Box(wrappedValue) }

    /// The value.
    public var wrappedValue: Value {
        get { box.value }
        set { box = Box(newValue) }
    }

    /// Compares the values.
    public static func == (left: Boxed, right: Boxed) -> Bool {
        left.box === right.box || left.box.value == right.box.value
    }

    /// Hashes the value.
    public func hash(into hasher: inout Hasher) { hasher.combine(box.value) }
}
