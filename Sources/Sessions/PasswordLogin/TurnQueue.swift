/// Elements that wait in turns: by their senders, and for each sender by their clients.
///
/// A sender with one element comes before those with several, the newest first: it waits behind no flood, and where senders are
/// many, an element that is served was answered soon. Every second turn goes to a sender with several, in the order of their
/// turns, so that these go on as well.
struct TurnQueue<Sender: Hashable, Element> {
    /// The elements of one sender.
    private struct Line {
        /// The clients in the order of their turns, each with its elements in the order of their arrival.
        var clients: [(id: String?, elements: [(number: Int, element: Element)])] = []
        var count = 0

        mutating func append(_ element: Element, _ number: Int, of id: String?) {
            count += 1
            if let index = clients.firstIndex(where: { $0.id == id }) {
                clients[index].elements.append((number, element))
            } else {
                clients.append((id, [(number, element)]))
            }
        }

        /// Removes the first element of the client that is next in turn.
        mutating func removeNext() -> Element {
            var client = clients.removeFirst()
            count -= 1
            let next = client.elements.removeFirst()
            if !client.elements.isEmpty { clients.append(client) }
            return next.element
        }

        /// The client with the most elements; of several, the one with the oldest element.
        private var longest: Int {
            clients.count == 1
                ? 0
                : clients.indices.max { a, b in
                    (clients[a].elements.count, -clients[a].elements[0].number)
                        < (clients[b].elements.count, -clients[b].elements[0].number)
                } ?? 0
        }

        /// The number of the element that `removeOldest` removes.
        var oldest: Int { clients[longest].elements[0].number }

        /// Removes the oldest element of the client with the most.
        mutating func removeOldest() -> Element {
            let index = longest
            count -= 1
            let oldest = clients[index].elements.removeFirst()
            if clients[index].elements.isEmpty { clients.remove(at: index) }
            return oldest.element
        }
    }

    private var lines: [Sender: Line] = [:]
    /// The senders with one element, which have had no turn since it came; the newest is the last one.
    private var single: [Sender] = []
    /// The senders with several elements, in the order of their turns.
    private var several: [Sender] = []
    private var lastWasSingle = false
    private var lastNumber = 0
    /// How many elements wait.
    private(set) var count = 0

    /// Has an element wait.
    mutating func append(_ element: Element, of sender: Sender, for clientID: String?) {
        lastNumber += 1
        count += 1
        if lines[sender] == nil {
            single.append(sender)
        } else if let index = single.lastIndex(of: sender) {
            single.remove(at: index)
            several.append(sender)
        }
        lines[sender, default: Line()].append(element, lastNumber, of: clientID)
    }

    /// Removes the element that is next in turn; nil: none waits.
    mutating func removeNext() -> Element? {
        let takesSingle = !single.isEmpty && (several.isEmpty || !lastWasSingle)
        guard let sender = takesSingle ? single.popLast() : several.first else { return nil }
        if !takesSingle { several.removeFirst() }
        lastWasSingle = takesSingle
        count -= 1
        let next = lines[sender]?.removeNext()
        if lines[sender]?.count == 0 { lines[sender] = nil } else { several.append(sender) }
        return next
    }

    /// Removes the oldest element of the sender with the most; nil: none waits.
    mutating func removeOldestOfMost() -> Element? {
        var most: (sender: Sender, count: Int, oldest: Int)?
        for (sender, line) in lines where line.count >= most?.count ?? 0 {
            let oldest = line.oldest
            if let most, line.count == most.count, oldest > most.oldest { continue }
            most = (sender, line.count, oldest)
        }
        guard let sender = most?.sender else { return nil }
        count -= 1
        let oldest = lines[sender]?.removeOldest()
        if lines[sender]?.count == 0 {
            lines[sender] = nil
            single.removeAll { $0 == sender }
            several.removeAll { $0 == sender }
        }
        return oldest
    }
}
