import ParleyWire

/// A request head and its expected outcome.
struct RequestRow: CustomStringConvertible, Sendable {
  let text: String
  let outcome: Outcome<String, RequestError>

  var description: String { String(text.debugDescription.prefix(120)) }
  var bytes: [UInt8] { text.unicodeScalars.flatMap { $0.value < 256 ? [UInt8($0.value)] : Array(String($0).utf8) } }
}

/// A valid head with this summary. Text after `·` is not part of it.
private func read(_ text: String, _ summary: String) -> RequestRow {
  let parts = text.split(separator: "·", maxSplits: 1, omittingEmptySubsequences: false)
  return RequestRow(text: parts.joined(), outcome: .read(summary, parts[0].unicodeScalars.count))
}

private func refused(_ text: String, _ error: RequestError) -> RequestRow {
  RequestRow(text: text, outcome: .refused(error))
}

private func incomplete(_ text: String) -> RequestRow { RequestRow(text: text, outcome: .needsMore) }

/// A POST request with these fields.
private func post(_ fields: String, _ summary: String) -> RequestRow {
  read("POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n", "POST / \(summary)")
}

private func post(_ fields: String, _ error: FramingError) -> RequestRow {
  refused("POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n", .framing(error))
}

private func get(_ fields: String, _ error: RequestError) -> RequestRow {
  refused("GET / HTTP/1.1\r\n\(fields)\r\n\r\n", error)
}

private func target(_ target: String, _ summary: String) -> RequestRow {
  read("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n", "GET \(summary)")
}

private func target(_ target: String) -> RequestRow {
  refused("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget)
}

private func line(_ line: String, _ error: RequestError) -> RequestRow {
  refused("\(line)\r\nHost: a\r\n\r\n", error)
}

private func host(_ value: String) -> RequestRow {
  read("GET / HTTP/1.1\r\nHost: \(value)\r\n\r\n", "GET /")
}

let requestRows: [RequestRow] = [
  // The request line.
  read("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /"),
  read("GET / HTTP/1.1\r\nHost: a\r\n\r\n·GET /next HTTP/1.1\r\n", "GET /"),
  read("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /"),
  refused("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .badLine),
  refused("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .bareLineFeed),
  refused("\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", .bareCarriageReturn),
  incomplete(""),
  incomplete("\r"),
  incomplete("\r\n"),
  incomplete("GET / HTTP/1.1\r"),
  incomplete("GET / HTTP/1.1\r\nHost: a\r\n"),
  incomplete("GET / HTTP/1.1\r\nHost: a\r\n\r"),
  line("GET  / HTTP/1.1", .badTarget),
  line("GET /  HTTP/1.1", .badTarget),
  line(" GET / HTTP/1.1", .badLine),
  line("GET / HTTP/1.1 ", .badLine),
  line("GET\t/ HTTP/1.1", .badLine),
  line("GET /\tHTTP/1.1", .badLine),
  line("GET /", .badLine),
  line("GET", .badLine),
  line("GET HTTP/1.1", .badLine),
  line("GET / x HTTP/1.1", .badTarget),
  line("GET / http/1.1", .badVersion),
  line("GET / HTTP/1,1", .badVersion),
  line("GET / HTTP/1.x", .badVersion),
  line("GET / HTTP/+1.1", .badLine),
  line("GET / HTTP/1.10", .badLine),
  line("GET / HTTP/11.1", .badLine),
  line("GET / HTTP/01.1", .badLine),
  line("GET / HTTP/1", .badLine),
  line("GET / HTTPS/1.1", .badLine),
  line("GET / HTTP/2.0", .versionNotSupported),
  line("GET / HTTP/0.9", .versionNotSupported),
  line("GET / HTTP/3.1", .versionNotSupported),
  line("PRI * HTTP/2.0", .versionNotSupported),
  read("GET / HTTP/1.2\r\nHost: a\r\n\r\n", "GET /"),
  read("GET / HTTP/1.9\r\nHost: a\r\n\r\n", "GET /"),
  read("GET / HTTP/1.0\r\n\r\n", "GET / 1.0 close"),
  refused("GET / HTTP/1.1\nHost: a\r\n\r\n", .bareLineFeed),
  refused("GET / HTTP/1.1\rHost: a\r\n\r\n", .bareCarriageReturn),
  refused("GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", .bareCarriageReturn),
  refused("\u{16}\u{03}\u{01}\u{02}\u{00}\u{01}\u{00}\u{01}", .badLine),  // TLS on a plain port
  refused("\u{00}", .badLine),
  refused("GET /\u{00} HTTP/1.1\r\n", .badLine),
  refused("GET /\u{7f} HTTP/1.1\r\n", .badLine),
  refused("GET /\u{80} HTTP/1.1\r\n", .badLine),

  // Methods.
  read("PURGE / HTTP/1.1\r\nHost: a\r\n\r\n", "PURGE /"),
  read("get / HTTP/1.1\r\nHost: a\r\n\r\n", "get /"),
  read("M-SEARCH / HTTP/1.1\r\nHost: a\r\n\r\n", "M-SEARCH /"),
  read("!#$%&'*+-.^_`|~ / HTTP/1.1\r\nHost: a\r\n\r\n", "!#$%&'*+-.^_`|~ /"),
  line("G(T / HTTP/1.1", .badLine),
  line("GET: / HTTP/1.1", .badLine),
  line("\"GET\" / HTTP/1.1", .badLine),
  line("CONNECT a:443 HTTP/1.1", .methodNotImplemented),
  line("CONNECT / HTTP/1.1", .methodNotImplemented),
  line("ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG / HTTP/1.1", .methodNotImplemented),

  // Targets.
  target("/a/b;c=d/~e", "/a/b;c=d/~e"),
  target("//evil.example/", "//evil.example/"),
  target("/?", "/?"),
  target("/a?b?c", "/a?b?c"),
  target("/a?100%", "/a?100%"),
  target("/%41%2f", "/%41%2f"),
  target("/%"), target("/%4"), target("/%g0"), target("/%4?1"),
  target("/#a"), target("/?a#b"), target("#"),
  target("a"), target("?a"), target("*"), target("**"), target("a.example:80"),
  target("http://b", "b/"),
  target("HTTP://B:80/c?d", "B:80/c?d"),
  target("https://[::1]:8443/", "[::1]:8443/"),
  target("http://b?c", "b/?c"),
  target("http://"), target("http:///a"), target("http://u@b/"), target("http://u:p@b/"), target("http://b:x/"),
  target("ftp://b/"), target("ws://b/"), target("http:/b/"), target("http://b#c"), target("http://b /"),
  target("http://b\\c/"), target("javascript:alert(1)"),
  read("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS *"),
  read("OPTIONS http://b HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS b*"),
  read("OPTIONS / HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS /"),
  refused("OPTIONS *a HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),

  // Fields.
  read("GET / HTTP/1.1\r\nHost:a\r\nA:\r\nB: \r\nC:\t c \t\r\n\r\n", "GET /"),
  get("Host: a\nX: b", .field(.bareLineFeed)),
  get("Host: a\rX: b", .field(.bareCarriageReturn)),
  get("Host: a\r\r\nX: b", .field(.bareCarriageReturn)),
  get("Host: a\r\n b", .field(.folded)),
  get("Host: a\r\n\tb", .field(.folded)),
  get(" Host: a", .field(.folded)),
  get("Host : a", .field(.spaceInName)),
  get("Host\t: a", .field(.spaceInName)),
  get("Ho st: a", .field(.spaceInName)),
  get(": a", .field(.emptyName)),
  get("Host", .field(.missingColon)),
  get("Host\n", .field(.bareLineFeed)),
  get("H\u{00}st: a", .field(.badName)),
  get("H\u{e4}st: a", .field(.badName)),
  get("H(st): a", .field(.badName)),
  get("H\"st: a", .field(.badName)),
  get("Host: a\r\nX: a\u{00}b", .field(.badValue)),
  get("Host: a\r\nX: a\u{0b}b", .field(.badValue)),
  get("Host: a\r\nX: a\u{0c}b", .field(.badValue)),
  get("Host: a\r\nX: a\u{1f}b", .field(.badValue)),
  get("Host: a\r\nX: a\u{7f}b", .field(.badValue)),
  get("Host: a\r\nX: \u{00}", .field(.badValue)),
  read("GET / HTTP/1.1\r\nHost: a\r\nX: a\tb \u{80}\u{e4}\u{ff}\r\n\r\n", "GET /"),
  refused("GET / HTTP/1.1\r\nHost: a\r\n\r\u{0b}", .field(.bareCarriageReturn)),
  refused("GET / HTTP/1.1\r\nHost: a\r\n\n", .field(.bareLineFeed)),
  refused("GET / HTTP/1.1\r\n\u{00}", .field(.badName)),

  // Host.
  get("X: a", .missingHost),
  refused("GET / HTTP/1.1\r\n\r\n", .missingHost),
  get("Host: a\r\nHost: a", .repeatedHost),
  get("Host: a\r\nhOST: b", .repeatedHost),
  refused("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", .repeatedHost),
  get("Host:", .badHost),
  get("Host: a b", .badHost),
  get("Host: a, b", .badHost),
  get("Host: a/b", .badHost),
  get("Host: http://a", .badHost),
  get("Host: u@a", .badHost),
  get("Host: a:b", .badHost),
  get("Host: a:65536", .badHost),
  get("Host: a:-1", .badHost),
  get("Host: :80", .badHost),
  get("Host: a:80:80", .badHost),
  get("Host: [::1", .badHost),
  get("Host: [::1]a", .badHost),
  get("Host: ::1", .badHost),
  get("Host: [1]", .badHost),
  get("Host: [::1%25eth0]", .badHost),
  get("Host: a\u{e4}", .badHost),
  get("Host: a%2f", .badHost),
  refused("GET http://b/ HTTP/1.1\r\n\r\n", .missingHost),
  host("garden.example"), host("garden.example:8443"), host("a:"), host("127.0.0.1:80"), host("[::1]"),
  host("[2001:db8::192.0.2.1]:80"), host("_srv.a-b.example."),

  // Content-Length.
  post("Content-Length: 5", "length=5"),
  post("content-LENGTH:5", "length=5"),
  post("Content-Length: 0", "length=0"),
  post("Content-Length: 010", .badContentLength),
  post("Content-Length: 00", .badContentLength),
  post("Content-Length: 9223372036854775807", "length=9223372036854775807"),
  post("Content-Length: 9223372036854775808", .badContentLength),
  post("Content-Length: 18446744073709551621", .badContentLength),
  post("Content-Length: 00000000000000000005", .badContentLength),
  post("Content-Length:", .badContentLength),
  post("Content-Length: +5", .badContentLength),
  post("Content-Length: -1", .badContentLength),
  post("Content-Length: 5 5", .badContentLength),
  post("Content-Length: 5, 5", .badContentLength),
  post("Content-Length: 5,", .badContentLength),
  post("Content-Length: 0x5", .badContentLength),
  post("Content-Length: 5.0", .badContentLength),
  post("Content-Length: 1e1", .badContentLength),
  post("Content-Length: 5_0", .badContentLength),
  post("Content-Length: \"5\"", .badContentLength),
  post("Content-Length: five", .badContentLength),
  post("Content-Length: \u{b2}", .badContentLength),
  post("Content-Length: 5\r\nContent-Length: 5", .repeatedContentLength),
  post("Content-Length: 5\r\nContent-Length: 6", .repeatedContentLength),
  post("Content-Length: 5\r\nX: y\r\ncontent-length: 0", .repeatedContentLength),
  post("Content_Length: 5", ""),
  refused("POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\n", .field(.spaceInName)),
  refused("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n 5\r\n\r\n", .field(.folded)),
  read("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n·abc", "GET / length=3"),

  // Transfer-Encoding.
  post("Transfer-Encoding: chunked", "chunked"),
  post("transfer-encoding: CHUNKED", "chunked"),
  post("Transfer-Encoding:\tchunked \t", "chunked"),
  post("Transfer-Encoding: chunked\r\nContent-Length: 5", .contentLengthBesideTransferEncoding),
  post("Content-Length: 5\r\nTransfer-Encoding: chunked", .contentLengthBesideTransferEncoding),
  post("Content-Length: 5\r\nTransfer-Encoding: identity", .contentLengthBesideTransferEncoding),
  post("Transfer-Encoding:", .badTransferEncoding),
  post("Transfer-Encoding: identity", .badTransferEncoding),
  post("Transfer-Encoding: xchunked", .badTransferEncoding),
  post("Transfer-Encoding: chunkedx", .badTransferEncoding),
  post("Transfer-Encoding: chunk\u{e9}d", .badTransferEncoding),
  post("Transfer-Encoding: gzip", .badTransferEncoding),
  post("Transfer-Encoding: chunked, gzip", .badTransferEncoding),
  post("Transfer-Encoding: chunked, identity", .badTransferEncoding),
  post("Transfer-Encoding: chunked, chunked", .badTransferEncoding),
  post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", .badTransferEncoding),
  post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", .badTransferEncoding),
  post("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", .unknownTransferCoding),
  post("Transfer-Encoding: gzip, chunked", .unknownTransferCoding),
  post("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", .unknownTransferCoding),
  post("Transfer-Encoding: , chunked", .badTransferEncoding),
  post("Transfer-Encoding: chunked,", .badTransferEncoding),
  post("Transfer-Encoding: chunked;q=1", .badTransferEncoding),
  post("Transfer-Encoding: \"chunked\"", .badTransferEncoding),
  post("Transfer-Encoding: chunked chunked", .badTransferEncoding),
  post("Transfer-Encoding: chunk ed", .badTransferEncoding),
  refused("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", .framing(.transferEncodingInHTTP10)),
  refused("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n", .field(.spaceInName)),
  refused("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \u{0b}chunked\r\n\r\n", .field(.badValue)),
  refused("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n", .field(.folded)),
  refused("POST / HTTP/1.1\r\nHost: a\r\nX: y\rTransfer-Encoding: chunked\r\n\r\n", .field(.bareCarriageReturn)),
  refused("POST / HTTP/1.1\r\nHost: a\r\nX: y\nTransfer-Encoding: chunked\r\n\r\n", .field(.bareLineFeed)),
  refused("POST / HTTP/1.1\r\n\u{feff}Transfer-Encoding: chunked\r\nHost: a\r\n\r\n", .field(.badName)),

  // Connection, Expect, Upgrade.
  read("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET / close"),
  read("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, CLOSE\r\n\r\n", "GET / close"),
  read("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n", "GET / close"),
  read("GET / HTTP/1.1\r\nHost: a\r\nConnection: closed\r\n\r\n", "GET /"),
  read("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET / 1.0"),
  read("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", "GET / 1.0 close"),
  post("Content-Length: 5\r\nExpect: 100-continue", "length=5 expects"),
  post("Transfer-Encoding: chunked\r\nExpect: 100-Continue", "chunked expects"),
  post("Content-Length: 0\r\nExpect: 100-continue", "length=0"),
  read("GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n", "GET /"),
  read("POST / HTTP/1.0\r\nContent-Length: 5\r\nExpect: x\r\n\r\n", "POST / 1.0 length=5 close"),
  get("Host: a\r\nExpect: 200-ok", .unknownExpectation),
  get("Host: a\r\nExpect: 100-continue, x", .unknownExpectation),
  read("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "GET / upgrades"),
  read("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n", "GET / upgrades"),
  read("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n", "GET /"),
  read("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\n\r\n", "GET /"),
  read("GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", "GET / 1.0 close"),
]
