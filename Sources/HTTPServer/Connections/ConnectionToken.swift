/// What the kernel returns with an event: a listener, or a connection by slot and generation, in 48 bits.
enum ConnectionToken {
    case port(UInt32)
    case connection(slot: Int, generation: UInt32)

    private static let portBit: UInt64 = 1 << 47
    private static let slotBits: UInt64 = 24
    /// Generations count modulo 2^23. Two would suffice, because an event is never older than its turn.
    static let generationMask: UInt32 = 1 << 23 - 1

    init(_ bits: UInt64) {
        if bits & Self.portBit != 0 {
            self = .port(UInt32(truncatingIfNeeded: bits))
        } else {
            self = .connection(
                slot: Int(bits & (1 << Self.slotBits - 1)),
                generation: UInt32(truncatingIfNeeded: bits >> Self.slotBits))
        }
    }

    var bits: UInt64 {
        switch self {
        case .port(let id): Self.portBit | UInt64(id)
        case .connection(let slot, let generation): UInt64(generation) << Self.slotBits | UInt64(slot)
        }
    }
}
