import Foundation
import ParleyJSON
import TestSupport
import Testing

@testable import ParleyKit

/// All errors of the kit have one type.
@Suite struct FaultTests {
  private static let local: [any ParleyFault] = [
    ClientFault.offline("x"), ClientFault.untrusted("x"), ClientFault.timedOut, ClientFault.interrupted("x"),
    ClientFault.captivePortal, ClientFault.invalidResponse("x"), ClientFault.tooLarge, ClientFault.unreadable("x"),
    ClientFault.cancelled, ClientFault.unfinished, ClientFault.storageFailed, CacheFault.broken("x"), CacheFault.inUse,
    CacheFault.newer(version: 9), CacheFault.closed, CacheFault.locked, SyncRefusal.userChanged,
    SyncRefusal.unknownConversation, SyncRefusal.unknownForum, SyncRefusal.unknownMessage,
    OutboxRefusal.unknownOperation, OutboxRefusal.targetGone, OutboxRefusal.unsentWork([]), OutboxRefusal.isStopped,
    AppAuthorizationFault.refused("access_denied", ""), AppAuthorizationFault.refused("invalid_grant", "x"),
    AppAuthorizationFault.refused("temporarily_unavailable", ""), AppAuthorizationFault.redirectMismatch,
    AppAuthorizationFault.noRandomBytes,
  ]

  @Test func `CK-09a: each fault has a code of its own and a text`() {
    #expect(Set(Self.local.map(\.code)).count == Self.local.count)
    for fault in Self.local {
      #expect(fault.code.wholeMatch(of: /[a-z_]+/) != nil && !fault.userMessage.isEmpty, "\(fault)")
    }
    #expect(ClientFault.userChanged.code == SyncRefusal.userChanged.code)
    #expect(
      Self.local.filter(\.isTemporary).map(\.code) == [
        "offline", "timed_out", "interrupted", "captive_portal", "unfinished", "storage_failed", "storage_in_use",
        "unsent_work", "temporarily_unavailable",
      ])
  }

  @Test func `CK-09: faults that no user can mend have the kind unexpected`() {
    #expect(
      Self.local.filter { $0.kind == .unexpected }.map(\.code) == [
        "untrusted", "invalid_response", "response_too_large", "unreadable_file", "storage_failed", "storage_broken",
        "storage_in_use", "storage_newer", "outbox_stopped", "no_random_bytes",
      ])
  }

  @Test func `CK-03: each fault has one of a few kinds`() throws {
    let kinds = Dictionary(grouping: Self.local, by: \.kind).mapValues { $0.map(\.code) }
    #expect(kinds[.network] == ["offline", "timed_out", "interrupted", "captive_portal", "unfinished"])
    #expect(kinds[.account] == ["closed", "locked", "invalid_grant"] && kinds[.userChanged] == ["user_changed"])
    #expect(kinds[.refused]?.count == 7 && kinds[.cancelled] == ["cancelled"])
    #expect(kinds[.permission] == ["access_denied"])
    #expect(kinds[.unavailable] == ["temporarily_unavailable"])
    let unreachable = AppAuthorizationFault.failed(.offline("x"))
    #expect(unreachable.kind == .network && unreachable.isTemporary && unreachable.code == "offline")
    for (code, status, kind) in [
      ("forbidden", 403, FaultKind.permission), ("silenced", 403, .permission), ("unauthenticated", 401, .account),
      ("step_up_required", 403, .account), ("rate_limited", 429, .rateLimit), ("unavailable", 503, .unavailable),
      ("timeout", 408, .unavailable), ("conflict", 409, .refused), ("something_new", 403, .permission),
    ] {
      let json = #"{"code": "\#(code)", "status": \#(status), "title": "No."}"#
      let fault: any ParleyFault = ClientFault.refused(try Problem(json: JSONValue(parsing: Array(json.utf8))))
      #expect(fault.kind == kind, "\(code)")
    }
  }

  @Test(arguments: [
    (
      #"{"code":"too_large","status":413,"title":"The body is too large.","detail":"At most 9 bytes are accepted."}"#,
      "The body is too large. At most 9 bytes are accepted."
    ),
    (#"{"code":"new","status":403,"title":"Only on Sundays."}"#, "Only on Sundays."),
    (#"{"code":"newcomer_limited","status":429,"title":"Too many."}"#, "Too many. Try again later."),
    (
      #"{"code":"invalid","status":400,"title":"t.","detail":"Only x.","errors":[{"field":"url","code":"invalid"}]}"#,
      "t. Only x. url is invalid."
    ),
    (#"{"code":"new","status":403,"title":""}"#, "The server refuses this: new."),
  ])
  func `the text of a refusal is the server's, with the wrong fields`(json: String, words: String) throws {
    #expect(try Problem(json: JSONValue(parsing: Array(json.utf8))).userMessage == words)
  }

  @Test func `the kit names the codes and kinds of the contract`() throws {
    let contract = try JSONValue(parsing: Array(Checkout.text("Public/openapi.json").utf8))
    var object = try contract.object()
    var components = try object.object("components")
    var schemas = try components.object("schemas")
    var code = try schemas.object("ProblemCode")
    let codes: [String] = try code.read("enum")
    let source = try Checkout.text("Sources/Kit/ParleyKit/Client/ProblemCode.swift")
    #expect(source.matches(of: /: Code = "(\w+)"/).map { String($0.1) } == codes)
    var file = try schemas.object("StoredFile")
    var properties = try file.object("properties")
    var kind = try properties.object("kind")
    let listed = try kind.string("description").matches(of: /`(\w+)`/).map { String($0.1) }
    let kinds: [File.Kind] = [.image, .video, .audio, .text, .document, .archive, .other]
    #expect(listed == kinds.map(\.rawValue))
  }

  @Test func `a refused request has the code of the server`() throws {
    let json = #"{"code": "forbidden", "status": 403, "title": "Not permitted."}"#
    let fault: any ParleyFault = ClientFault.refused(try Problem(json: JSONValue(parsing: Array(json.utf8))))
    #expect(fault.code == "forbidden" && !fault.isTemporary)
  }

  @Test func `CK-03: every public error of the kit is a ParleyFault`() throws {
    let folder = Checkout.root.appending(path: "Sources/Kit")
    let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    let texts = try paths.filter { $0.hasSuffix(".swift") }.map { try Checkout.text("Sources/Kit/\($0)") }
    let declared = texts.flatMap { text in
      text.matches(of: /public (?:enum|struct|class) (\w+): [^{]*\bError\b/).map { String($0.1) }
    }
    let conforming = texts.flatMap { $0.matches(of: /extension (\w+): ParleyFault/).map { String($0.1) } }
    #expect(declared.contains("ClientFault"))
    // A transport throws these to the client, which never passes them on.
    #expect(Set(declared).subtracting(conforming) == ["Ending", "TransportFailure"])
    // Nor does a public function throw the errors of the modules below. Types with JSON are decoded by the client.
    let thrown = texts.flatMap { text in
      text.matches(of: /public [a-z ]*(?:func|init|subscript)[^{]*?\bthrows\(([\w.]+)\)/).map { String($0.1) }
    }
    #expect(thrown.contains("CacheFault") && thrown.contains("ClientFault"))
    #expect(Set(thrown).subtracting(conforming) == ["Ending", "JSONError", "TransportFailure"])
  }

  @Test func `a failure of a model is a fault`() {
    #expect(fault(of: SyncRefusal.unknownForum).code == "unknown_forum")
    #expect(fault(of: CancellationError()).code == "cancelled")
    #expect(fault(of: CocoaError(.fileWriteOutOfSpace)).code == "storage_broken")
  }
}
