import Glibc
public import TLS

/// A folder with certificates of all kinds, made once by the `openssl` command.
public struct Certificates: Sendable {
    /// Where they are: NAME.crt and NAME.key.
    public let folder: String
    /// A moment in which all of them are good: when the last one was made.
    public let now: Int64

    /// Those of this process.
    public static let shared = Certificates()

    private init() {
        folder = "/tmp/tls-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        mkdir(folder, 0o700)
        let script = """
            set -e; cd \(folder)
            new() { # name, key options, subject, then options of x509
                name=$1; key=$2; subject=$3; shift 3
                openssl req -new -newkey $key -nodes -keyout $name.key -subj "$subject" -out $name.csr 2>/dev/null
                printf 'subjectAltName=DNS:localhost,DNS:login.example,IP:127.0.0.1' > $name.ext
                openssl x509 -req -in $name.csr -extfile $name.ext -out $name.crt "$@" 2>/dev/null
            }
            P256="ec -pkeyopt ec_paramgen_curve:prime256v1"
            openssl req -x509 -newkey $P256 -nodes -keyout ca.key -out ca.crt -subj /CN=root -days 3650 2>/dev/null
            cp ca.crt other-ca.crt
            openssl req -x509 -newkey $P256 -nodes -keyout other-ca.key -out other-ca.crt -subj /CN=other -days 3650 2>/dev/null
            openssl req -x509 -newkey $P256 -nodes -keyout intermediate.key -out intermediate.crt -subj /CN=intermediate \\
                -days 3650 -CA ca.crt -CAkey ca.key 2>/dev/null || {
                openssl req -new -newkey $P256 -nodes -keyout intermediate.key -subj /CN=intermediate -out i.csr
                printf 'basicConstraints=critical,CA:TRUE' > i.ext
                openssl x509 -req -in i.csr -extfile i.ext -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -out intermediate.crt
            }
            SIGNED="-CA ca.crt -CAkey ca.key -CAcreateserial"
            new p256 "$P256" /CN=p256 $SIGNED -days 90
            new next "$P256" /CN=next $SIGNED -days 90
            new rsa rsa:2048 /CN=rsa $SIGNED -days 90
            new rsa4096 rsa:4096 /CN=rsa4096 $SIGNED -days 90
            new weak rsa:1024 /CN=weak $SIGNED -days 90
            new client "$P256" "/O=Example/CN=deploy" $SIGNED -days 90
            new stranger "$P256" /CN=stranger -CA other-ca.crt -CAkey other-ca.key -CAcreateserial -days 90
            new chained "$P256" /CN=chained -CA intermediate.crt -CAkey intermediate.key -CAcreateserial -days 90
            cat chained.crt intermediate.crt > chained.pem
            openssl ec -in p256.key -aes128 -passout pass:secret -out encrypted.key 2>/dev/null
            echo nothing > not.pem
            """
        guard let result = try? Tool.runAndWait(["bash", "-c", script]), result.status == 0 else {
            fatalError("openssl did not make the certificates")
        }
        now = Int64(time(nil))
        atexit { _ = try? Tool.runAndWait(["rm", "-rf", Certificates.shared.folder]) }
    }

    /// Where a file is.
    public func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// The contents of one of the files.
    public func bytes(_ name: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let file = open(path(name), O_RDONLY)
        while case let count = read(file, &buffer, buffer.count), count > 0 { bytes += buffer.prefix(count) }
        close(file)
        return bytes
    }

    /// A certificate with its key and, if wanted, a clients' authority.
    public func pem(_ name: String, clientAuthority: String? = nil) -> TLSCredentials.PEM {
        TLSCredentials.PEM(
            certificate: bytes(name == "chained" ? "chained.pem" : name + ".crt"), key: bytes(name + ".key"),
            clientAuthority: clientAuthority.map { bytes($0 + ".crt") })
    }

    /// A context for that.
    public func context(
        _ name: String = "p256", clientAuthority: String? = nil, keys: TicketKeys = TicketKeys()
    ) throws -> TLSContext {
        try TLSContext(
            TLSCredentials(pem(name, clientAuthority: clientAuthority), now: now), ticketKeys: keys)
    }
}
