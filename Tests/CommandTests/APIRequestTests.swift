import ParleyJSON
import ParleyKit
import Testing

@testable import ParleyProgram

@Suite struct APIRequestTests {
  private static func request(_ arguments: String...) throws -> Request<RawResponse> {
    try APICommand.request(
      Settings(
        arguments: arguments, environment: [:], of: "api", Command.api.settings, operands: Command.api.operands))
  }

  @Test(arguments: [
    ("/forums", "/forums"), ("forums", "/forums"), ("/api/v1/forums", "/forums"), ("api/v1/forums", "/forums"),
    ("/users/@ada", "/users/@ada"), ("/messages/9/actions/reaction:🎉", "/messages/9/actions/reaction:%F0%9F%8E%89"),
    ("/a b", "/a%20b"), ("/a%20b", "/a%20b"), ("/a#b\r\n", "/a%23b%0D%0A"),
  ])
  func `a path is relative to the API and percent-encoded`(text: String, path: String) throws {
    #expect(try Self.request("GET", text).path == path)
  }

  @Test func `the query of the path and the fields of GET are the query`() throws {
    let request = try Self.request("get", "/forums?query=a%20b", "-f", "limit=5", "-F", "x=true")
    #expect(request.method == .get)
    #expect(request.query == [QueryItem("query", "a b"), QueryItem("limit", "5"), QueryItem("x", "true")])
  }

  @Test(arguments: [
    (["-f", "text=true"], #"{"text":"true"}"#), (["-F", "n=5"], #"{"n":5}"#), (["-F", "n=-1.5e3"], #"{"n":-1.5e3}"#),
    (["-F", "on=true", "-F", "off=false", "-F", "no=null"], #"{"on":true,"off":false,"no":null}"#),
    (["-F", "text=5 apples"], #"{"text":"5 apples"}"#), (["-F", "text={}"], #"{"text":"{}"}"#),
    (["-ftext=a=b"], #"{"text":"a=b"}"#), (["--raw-field", "text="], #"{"text":""}"#),
    (["-f", "ids[]=1", "-f", "ids[]=2"], #"{"ids":["1","2"]}"#),
    (["-f", "user[name]=ada", "-F", "user[age]=36"], #"{"user":{"name":"ada","age":36}}"#),
    (
      ["-f", "p[][id]=1", "-f", "p[][role]=admin", "-f", "p[][id]=2"],
      #"{"p":[{"id":"1","role":"admin"},{"id":"2"}]}"#
    ),
    ([], nil),
  ])
  func `fields are the body`(arguments: [String], json: String?) throws {
    let settings = try Settings(
      arguments: ["POST", "/x"] + arguments, environment: [:], of: "api", Command.api.settings,
      operands: Command.api.operands)
    guard case .json(let body) = try APICommand.request(settings).body else {
      #expect(json == nil)
      return
    }
    #expect(String(decoding: body.bytes, as: UTF8.self) == json)
  }

  @Test(arguments: [
    ["FETCH", "/x"], ["GET", "https://chat.example/x"], ["POST", "/x", "-f", "text"], ["POST", "/x", "-f", "=1"],
    ["POST", "/x", "-f", "a[=1"], ["POST", "/x", "-f", "a=1", "-f", "a=2"],
    ["POST", "/x", "-f", "a=1", "-f", "a[b]=2"],
    ["POST", "/x", "-f", "a[]=1", "-f", "a[b]=2"], ["GET", "/x", "-H", "name"], ["GET", "/x", "-H", "a:b\r\nc:d"],
    ["GET", "/x", "--input", "/nonexistent"], ["GET", "/x", "-z"], ["GET"],
  ])
  func `an invalid request is an error`(arguments: [String]) {
    #expect(throws: Settings.UsageError.self) {
      try APICommand.request(
        Settings(
          arguments: arguments, environment: [:], of: "api", Command.api.settings, operands: Command.api.operands))
    }
  }

  @Test func `header fields are added, and the type of the body is replaced`() throws {
    let request = try Self.request(
      "PUT", "/x", "-H", "Range: bytes=0-1", "-H", "content-type: text/plain", "--input", "/etc/hostname")
    #expect(request.fields.map(\.name) == ["Range"])
    #expect(request.fields.map(\.value) == ["bytes=0-1"])
    guard case .file(_, _, let type) = request.body else {
      Issue.record("no file")
      return
    }
    #expect(type == "text/plain")
  }

  private static let page =
    #"{"data":[{"title":"a\nb","n":1,"x":{"y":[true,null]}},{"title":"c","n":2,"x":{}}],"next":null}"#

  @Test(arguments: [
    ("data.0.title", ["a\nb"]), ("data.*.title", ["a\nb", "c"]), ("data.1.n", ["2"]), ("next", ["null"]),
    ("data.0.x", [#"{"y":[true,null]}"#]), ("data.0.x.y.*", ["true", "null"]), ("data.1.*", ["c", "2", "{}"]),
    ("data.*.x.y", ["[true,null]"]),
  ])
  func `a path picks values`(path: String, values: [String]) throws {
    #expect(try JSONPicker(path).pick(from: JSONValue(parsing: Array(Self.page.utf8))) == values)
  }

  @Test(arguments: [
    ("data.0.titel", "Did you mean title?"), ("data.2", "The array has 2 elements."),
    ("data.*.titel", "Did you mean title?"),
    ("next.x", "no x in a null"),
    ("data.1.x.y", "The object is empty."), ("nothing", "Members: data, next."), ("data.-1", "no element -1"),
  ])
  func `a missing value says what there is`(path: String, message: String) throws {
    let picker = try JSONPicker(path)
    do {
      _ = try picker.pick(from: JSONValue(parsing: Array(Self.page.utf8)))
      Issue.record("no error")
    } catch let error as JSONPicker.Missing {
      #expect(error.message.contains(message))
    }
  }

  @Test(arguments: ["", ".", "a..b", "a."])
  func `an invalid path is an error`(path: String) {
    #expect(throws: Settings.UsageError.self) { try JSONPicker(path) }
  }

  @Test func `JSON is indented for a terminal`() throws {
    let json = #"{"a":[1,{"b":"c\n"}],"d":{},"e":[]}"#
    #expect(
      try JSONText.indented(JSONValue(parsing: Array(json.utf8))) == """
        {
          "a": [
            1,
            {
              "b": "c\\n"
            }
          ],
          "d": {},
          "e": []
        }

        """)
  }
}
