// The outline of a session in C#: the store, one renewal, and the verdict. The numbers are those of the rules of a client.
// For .NET and for Mono. A session that is bound to a key needs `ECDsa` for its proofs, which Mono does not have.

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Runtime.Serialization.Json;
using System.Security.Cryptography;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using System.Xml.Linq;

/// <summary>Only `not-signed-in` and `ended` mean that a program asks for the login.</summary>
public class SessionException : Exception
{
    public readonly string Code, Reason;

    public SessionException(string code, string reason = null) : base(reason ?? code) { Code = code; Reason = reason; }
}

/// <summary>A JSON object. Members that this version does not know are kept.</summary>
public class Members
{
    public readonly XElement Root;

    public Members(XElement root) { Root = root; }

    public static Members Empty => new Members(new XElement("root", new XAttribute("type", "object")));

    /// <summary>Null if the text is no JSON object.</summary>
    public static Members Parse(byte[] text)
    {
        try
        {
            var quotas = new System.Xml.XmlDictionaryReaderQuotas { MaxDepth = 32 };
            var root = XElement.Load(JsonReaderWriterFactory.CreateJsonReader(text, quotas));
            return (string)root.Attribute("type") == "object" ? new Members(root) : null;
        }
        catch (Exception error) when (error is System.Xml.XmlException || error is FormatException)
        {
            return null;
        }
    }

    public string this[string name] => Root.Element(name)?.Value;

    public long? Number(string name) => long.TryParse(this[name], out var value) ? value : (long?)null;

    /// <summary>A copy with another member; null removes it.</summary>
    public Members With(string name, object value)
    {
        var copy = new Members(new XElement(Root));
        copy.Root.Elements(name).Remove();
        var type = value is string ? "string" : value is bool ? "boolean" : "number";
        if (value is XElement element) copy.Root.Add(new XElement(element));
        else if (value != null) copy.Root.Add(new XElement(name, new XAttribute("type", type), value));
        return copy;
    }

    public byte[] Text()
    {
        using (var stream = new MemoryStream())
        {
            using (var writer = JsonReaderWriterFactory.CreateJsonWriter(stream)) Root.WriteTo(writer);
            return stream.ToArray();
        }
    }
}

/// <summary>Keeps the record in a file. Processes exclude each other for the swap alone (12).</summary>
public class FileStore
{
    private readonly string path;

    public FileStore(string folder) { Directory.CreateDirectory(folder); path = Path.Combine(folder, "session.json"); }

    /// <summary>The version and the record. Null is certainly nothing; any error is "cannot tell" (1).</summary>
    public Tuple<string, Members> Load()
    {
        byte[] text;
        try { text = File.ReadAllBytes(path); }
        catch (FileNotFoundException) { return null; }
        var record = Members.Parse(text);
        if (record?.Number("schema") != 1) throw new InvalidDataException("the record cannot be read, and is kept");
        using (var hash = SHA256.Create()) return Tuple.Create(Convert.ToBase64String(hash.ComputeHash(text)), record);
    }

    /// <summary>Writes if the stored version is still the expected one, durably. False: another one is stored (5).</summary>
    public bool Replace(string expected, Members record)
    {
        using (Locked())
        {
            if (Load()?.Item1 != expected) return false;
            var text = record.Text();
            using (var file = new FileStream(path + ".new", FileMode.Create))
            {
                file.Write(text, 0, text.Length);
                file.Flush(true);
            }
            if (File.Exists(path)) File.Replace(path + ".new", path, null);
            else File.Move(path + ".new", path);
            return true;
        }
    }

    private FileStream Locked()
    {
        for (var attempt = 0; ; attempt++)
        {
            try { return new FileStream(path + ".lock", FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None); }
            catch (IOException) when (attempt < 500) { Thread.Sleep(10); }
        }
    }
}

public class Session
{
    private static readonly string[] SessionMembers = {
        "session_id", "refresh_token", "access_token", "token_type", "issued_at", "expires_at", "refresh_after",
        "session_idle_expires_at", "session_expires_at", "rotation_interval", "user", "device_id" };

    private readonly string server, clientID;
    private readonly FileStore store;
    private readonly HttpClient http = new HttpClient(new HttpClientHandler { AllowAutoRedirect = false, UseCookies = false });
    private readonly object flights = new object();
    private Task<string> flight;

    public Session(string server, string clientID, FileStore store)
    {
        this.server = server.TrimEnd('/');
        this.clientID = clientID;
        this.store = store;
        http.Timeout = TimeSpan.FromSeconds(20);
    }

    private static long Now => DateTimeOffset.UtcNow.ToUnixTimeSeconds();

    /// <summary>An access token; renewed before, if that is due. All callers wait for one renewal (11).</summary>
    public async Task<string> AccessToken()
    {
        var record = store.Load()?.Item2;
        if (record?["access_token"] == null) throw new SessionException("not-signed-in");
        if (record["ended"] != null) throw new SessionException("ended", record["ended"]);
        var isUsable = record.Number("expires_at") - Now >= 30;
        if (isUsable && Now <= record.Number("refresh_after")) return record["access_token"];
        Task<string> mine;
        lock (flights) mine = flight = flight == null || flight.IsCompleted ? Task.Run(Renew) : flight;
        // Due is not expired (10): the renewal goes on, and the stored token works meanwhile.
        if (isUsable && await Task.WhenAny(mine, Task.Delay(3000)) != mine) return record["access_token"];
        try { return await mine; }
        catch (SessionException error) when (isUsable && error.Code == "unreachable") { return record["access_token"]; }
    }

    private async Task<string> Renew()
    {
        var random = new Random();
        for (var attempt = 1; ; attempt++)
        {
            var sentAt = Now;
            var stored = store.Load();
            var record = stored.Item2;
            var form = new Dictionary<string, string> {
                { "grant_type", "refresh_token" }, { "refresh_token", record["refresh_token"] }, { "client_id", clientID },
                { "device_id", record["device_id"] }, { "sent_at", $"{sentAt}" }, { "id_token", "false" } };
            // Derived, so that each retry and each process sends the same (4).
            var key = RetryKey(record["retry_secret"], record["refresh_token"]);
            var answer = await Send(HttpMethod.Post, "/oauth/token", new FormUrlEncodedContent(form), key);
            if (answer.Item1 == "renewed") return Commit(stored, Take(record, answer.Item2));
            if (answer.Item1 == "ended") Commit(stored, record.With("ended", Reason(answer.Item2)));
            if (answer.Item1 != "unreachable" || attempt == 3) throw Failure(answer);
            await Task.Delay(random.Next(attempt == 1 ? 500 : 2000));
        }
    }

    /// <summary>An answer counts for the bytes that were presented (5). The token that is stored is the one to use (2).</summary>
    private string Commit(Tuple<string, Members> presented, Members changed)
    {
        if (!store.Replace(presented.Item1, changed)) changed = store.Load()?.Item2;
        return changed?["access_token"] ?? throw new SessionException("not-signed-in");
    }

    private static Members Take(Members record, Members answer) =>
        SessionMembers.Where(name => answer[name] != null)
            .Aggregate(record.With("ended", null), (changed, name) => changed.With(name, answer.Root.Element(name)));

    public async Task SignIn(string username, string password)
    {
        var stored = store.Load();
        var record = stored?.Item2
            ?? Members.Empty.With("schema", 1).With("device_id", Guid.NewGuid().ToString()).With("retry_secret", Secret());
        if (stored == null) store.Replace(null, record);
        stored = store.Load();
        var device = new XElement("device", new XAttribute("type", "object"),
            new XElement("id", new XAttribute("type", "string"), record["device_id"]));
        var body = Members.Empty.With("client_id", clientID).With("device", device)
            .With("password", password).With("username", username).Text();
        var key = RetryKey(record["retry_secret"], "login:" + Encoding.UTF8.GetString(body));
        var content = new ByteArrayContent(body);
        content.Headers.Add("Content-Type", "application/json");
        var answer = await Send(HttpMethod.Post, "/v1/login", content, key);
        // A login has no session that could have ended.
        if (answer.Item1 != "renewed") throw Failure(Tuple.Create(answer.Item1 == "ended" ? "refused" : answer.Item1, answer.Item2));
        Commit(stored, Take(record, answer.Item2).With("retry_secret", Secret()));
    }

    public async Task<HttpStatusCode> Call(string url)
    {
        using (var request = new HttpRequestMessage(HttpMethod.Get, url))
        {
            request.Headers.Add("Authorization", "Bearer " + await AccessToken());
            using (var answer = await http.SendAsync(request)) return answer.StatusCode;
        }
    }

    private async Task<Tuple<string, Members>> Send(HttpMethod method, string path, HttpContent content, string retryKey)
    {
        using (var request = new HttpRequestMessage(method, server + path) { Content = content })
        {
            request.Headers.Add("Idempotency-Key", retryKey);
            try
            {
                using (var answer = await http.SendAsync(request))
                {
                    var body = Members.Parse(await answer.Content.ReadAsByteArrayAsync());
                    return Tuple.Create(Verdict((int)answer.StatusCode, body), body);
                }
            }
            catch (Exception error) when (error is HttpRequestException || error is TaskCanceledException)
            {
                return Tuple.Create("unreachable", (Members)null);
            }
        }
    }

    /// <summary>The meaning of an answer: only the listed rows end a session (7).</summary>
    public static string Verdict(int status, Members body)
    {
        if (body == null) return "unreachable";
        if (status == 200) return body["access_token"] != null && body["issued_at"] != null ? "renewed" : "unreachable";
        if (status < 400 || status == 408 || status == 429 || status >= 500) return "unreachable";
        var reason = Reason(body);
        var again = body["reauthenticate"];
        if ((status == 400 || status == 401) && reason != null && (again == "true" || (again != null && reason == "user_deleted")))
            return "ended";
        if (reason == "insufficient_user_authentication") return "presence-required";
        return reason != null || body["error"] != null ? "refused" : "unreachable";
    }

    private static string Reason(Members body) => body?["reason"] ?? body?["code"];

    private static SessionException Failure(Tuple<string, Members> answer) =>
        new SessionException(answer.Item1, Reason(answer.Item2) ?? answer.Item2?["error"]);

    private static string RetryKey(string secret, string message)
    {
        using (var hmac = new HMACSHA256(Convert.FromBase64String(secret.Replace('-', '+').Replace('_', '/') + "=")))
            return Base64Url(hmac.ComputeHash(Encoding.UTF8.GetBytes(message))).Substring(0, 22);
    }

    /// <summary>32 random bytes, new with each login (4).</summary>
    private static string Secret()
    {
        var bytes = new byte[32];
        using (var random = RandomNumberGenerator.Create()) random.GetBytes(bytes);
        return Base64Url(bytes);
    }

    private static string Base64Url(byte[] bytes) =>
        Convert.ToBase64String(bytes).TrimEnd('=').Replace('+', '-').Replace('/', '_');
}
