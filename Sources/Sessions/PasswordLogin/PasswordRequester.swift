extension PasswordHasher {
    /// The origin of a password, which decides on its place among those that wait.
    struct Requester: Hashable, Sendable {
        /// The sender of a password. In the queues of no user the senders take turns.
        enum Sender: Hashable, Sendable {
            /// The network of a caller without authentication.
            case network(CallerNetwork)
            /// A caller on this machine, through a Unix socket.
            case local
            /// An authenticated client, or an admin: the network says nothing of the users of such a client.
            case actor(String)
        }

        /// What comes with the password.
        enum Evidence: Hashable, Sendable {
            case none
            /// The id of a device with an active session of that user.
            case knownDevice(of: Identifier<User>)
            /// Another secret of that user: a token of a session, or a password reset token.
            case secret(of: Identifier<User>)
        }

        /// The leading bits of an address that are one network. An attacker rents addresses by these ranges.
        static let ipv4PrefixBits = 24
        static let ipv6PrefixBits = 56

        let sender: Sender
        /// The client for which the password is. Without authentication it is a claim, which shares no more than the turns of
        /// the network.
        let clientID: String?
        let evidence: Evidence

        init(_ origin: Origin, clientID: String?, _ evidence: Evidence = .none) {
            sender =
                if origin.actor != Origin.userActor {
                    .actor(origin.actor)
                } else if let address = origin.remoteAddress {
                    .network(
                        CallerNetwork(
                            address, ipv4PrefixBits: Self.ipv4PrefixBits, ipv6PrefixBits: Self.ipv6PrefixBits))
                } else {
                    .local
                }
            self.clientID = clientID
            self.evidence = evidence
        }

        /// A request with a token of a session.
        static func session(_ session: Session, from origin: Origin) -> Self {
            Self(origin, clientID: session.clientID, .secret(of: session.userID))
        }
    }

    /// The queues of passwords, in the order in which they are served.
    public enum Priority: String, CaseIterable, Sendable {
        /// Requests with another secret of the user.
        case users
        /// Logins from devices with an active session of the user.
        case knownDevices = "known_devices"
        /// Logins from networks without a wrong password in the last ten minutes, authenticated clients and admins.
        case cleanNetworks = "clean_networks"
        /// The other logins.
        case otherNetworks = "other_networks"
    }
}
