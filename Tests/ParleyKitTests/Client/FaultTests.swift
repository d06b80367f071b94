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

  @Test func `each fault has a code of its own and a text`() {
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

  @Test func `each fault has one of a few kinds`() throws {
    let kinds = Dictionary(grouping: Self.local, by: \.kind).mapValues { $0.map(\.code) }
    #expect(kinds[.network] == ["offline", "timed_out", "interrupted", "captive_portal", "unfinished"])
    #expect(kinds[.account] == ["closed", "locked", "invalid_grant"] && kinds[.userChanged] == ["user_changed"])
    #expect(kinds[.refused]?.count == 7 && kinds[.cancelled] == ["cancelled"])
    #expect(kinds[.unexpected]?.contains("invalid_response") == true && kinds[.permission] == ["access_denied"])
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
    (#"{"code":"too_large","status":413,"title":"t","params":{"limit":65536}}"#, "at most 65536 bytes."),
    (#"{"code":"too_large","status":413,"title":"t"}"#, "This is too large."),
    (#"{"code":"newcomer_limited","status":429,"title":"t","params":{"limit":"links"}}"#, "Too many requests."),
    (
      #"{"code":"invalid","status":400,"title":"t","detail":"Only x.","errors":[{"field":"url","code":"invalid"}]}"#,
      "Invalid value: url is invalid. Only x."
    ),
  ])
  func `the text of a refusal has its limit and its detail`(json: String, words: String) throws {
    let problem = try Problem(json: JSONValue(parsing: Array(json.utf8)))
    #expect(problem.userMessage.contains(words), "\(problem.userMessage)")
  }

  @Test func `a refused request has the code of the server`() throws {
    let json = #"{"code": "forbidden", "status": 403, "title": "Not permitted."}"#
    let fault: any ParleyFault = ClientFault.refused(try Problem(json: JSONValue(parsing: Array(json.utf8))))
    #expect(fault.code == "forbidden" && !fault.isTemporary)
  }

  @Test func `every public error of the kit is a ParleyFault`() throws {
    let folder = Checkout.root.appending(path: "Sources/Kit/ParleyKit")
    let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    let texts = try paths.filter { $0.hasSuffix(".swift") }.map { try Checkout.text("Sources/Kit/ParleyKit/\($0)") }
    let declared = texts.flatMap { text in
      text.matches(of: /public (?:enum|struct|class) (\w+): [^{]*\bError\b/).map { String($0.1) }
    }
    let conforming = texts.flatMap { $0.matches(of: /extension (\w+): ParleyFault/).map { String($0.1) } }
    #expect(declared.contains("ClientFault"))
    // A transport throws these to the client, which never passes them on.
    #expect(Set(declared).subtracting(conforming) == ["Ending", "TransportFailure"])
  }
}
