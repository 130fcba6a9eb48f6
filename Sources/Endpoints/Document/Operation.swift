extension Route {
    /// What the API document says of a route, beside what follows from the row: method, path, listener, proof and kind.
    struct Operation: Sendable {
        let id: String
        let tag: Tag
        let summary: String
        /// For a call of admins without the sentence that names its scopes, which follows from the row.
        let description: String
        let takes: Body?
        /// Names in `config/openapi/parameters.json`. Parameters of the path, `DPoP` and `If-None-Match` follow from the row; a
        /// name here is for another description, or another place.
        let parameters: [String]
        /// The ways to prove something, each enough alone; nil: they follow from the row.
        let security: [Scheme]?
        let answers: [Answer]
        /// The errors of its own. Each replaces the one with the same status that follows from the row.
        let errors: [Refusal]
        /// The statuses that follow from the row, and that this route cannot give.
        let omitted: [Int]

        init(
            _ id: String, _ tag: Tag, _ summary: String, _ description: String = "", takes: Body? = nil,
            parameters: [String] = [], security: [Scheme]? = nil, answers: [Answer], errors: [Refusal] = [],
            without omitted: [Int] = []
        ) {
            self.id = id
            self.tag = tag
            self.summary = summary
            self.description = description
            self.takes = takes
            self.parameters = parameters
            self.security = security
            self.answers = answers
            self.errors = errors
            self.omitted = omitted
        }
    }

    /// The groups of the document, each with one page in the manual. `config/openapi/document.json` describes them.
    enum Tag: String, CaseIterable {
        case oauth = "OAuth"
        case loginPage = "Login page"
        case accountPages = "Account pages"
        case apps = "Apps"
        case me = "Me"
        case logins = "Logins"
        case proxies = "Proxies"
        case users = "Users"
        case sessions = "Sessions"
        case settings = "Settings"
        case clients = "Clients"
        case keys = "Keys"
        case operation = "Operation"
        case eventStreams = "Event streams"
        case console = "Console"
    }

    /// The security schemes of the document, and none.
    enum Scheme: String {
        case nothing
        case bearer
        case dpop
        case basic
        case password
        case adminKey = "admin_key"
        case enrolment
    }

    /// What a call takes as content.
    enum Body: Sendable {
        /// A schema of `config/openapi/schemas.json`.
        case json(String, isOptional: Bool = false)
        /// The schema in `config/openapi/bodies.json` with the id of the operation.
        case inlineJSON
        /// A form, with its schema in `config/openapi/bodies.json`.
        case form
        /// A form that may be missing.
        case optionalForm
        /// The bytes of a picture.
        case picture
    }

    /// An answer of a call that is none of the shared errors.
    struct Answer: Sendable {
        enum Content: Sendable {
            /// A whole answer of `config/openapi/answers.json`.
            case inline(name: String)
            /// A type with a schema of `config/openapi/schemas.json`; nil: a text.
            case written(description: String, headers: [String], type: String?, schema: String?)
        }

        let status: Int
        let content: Content

        /// Whether callers keep it, and ask with `If-None-Match`.
        var isCacheable: Bool {
            if case .written(_, let headers, _, _) = content { headers.contains("ETag") } else { false }
        }

        private init(
            _ status: Int, _ description: String, headers: [String] = [], type: String? = nil, schema: String? = nil
        ) {
            self.status = status
            content = .written(description: description, headers: headers, type: type, schema: schema)
        }

        private init(inline name: String, _ status: Int) {
            self.status = status
            content = .inline(name: name)
        }

        static func inline(_ status: Int, _ name: String) -> Answer { Answer(inline: name, status) }

        static func json(
            _ schema: String, _ description: String, status: Int = 200, headers: [String] = []
        ) -> Answer {
            Answer(status, description, headers: headers, type: "application/json", schema: schema)
        }

        /// A new object, with its path in `Location`.
        static func created(_ schema: String, _ description: String) -> Answer {
            json(schema, description, status: 201, headers: ["Location"])
        }

        /// An object that callers keep.
        static func cacheable(_ schema: String, _ description: String) -> Answer {
            json(schema, description, headers: ["ETag", "Cache-Control"])
        }

        static let tokens = json("TokenAnswer", "Tokens.", headers: ["Cache-Control", "DPoP-Nonce"])

        /// Without content.
        static func empty(_ description: String, status: Int = 204, headers: [String] = []) -> Answer {
            Answer(status, description, headers: headers)
        }

        static func text(_ type: String, _ description: String) -> Answer { Answer(200, description, type: type) }

        static let page = page(200, "A page for people.")

        static func page(_ status: Int, _ description: String) -> Answer {
            Answer(status, description, type: "text/html")
        }

        static func redirect(_ description: String, status: Int = 303) -> Answer {
            empty(description, status: status, headers: ["Location"])
        }

        /// The answers that several pages share.
        static let unknownRequest = page(
            400, "The request cannot be read, or its client or redirect URI is unknown.")
        static let valueRefused = page(422, "A value is refused.")
        static let tooManyAttempts = page(429, "Too many attempts.")
        static let toLogin = redirect("To the login page, which leads back.")
        /// The answer of a page of the console to a browser without a session.
        static let toEntry = redirect("To `/console/enter`, which leads back.")
    }
}
