import ParleyJSON
import Testing

@testable import ParleyProgram

@Suite struct AlertTests {
  private static let hour: Int64 = 3_600_000

  private static func disk(_ percent: Int) -> [Alert] { Alert.all([], usedPercent: percent) }
  private static let mail = Alert.all([.warning(.mail, "Mail waits.")], usedPercent: nil)
  private static let late = Alert.all([.error(.backupLate, "It is late.")], usedPercent: 10)

  @Test func `the disk has three steps, and each includes the lower ones`() {
    #expect(Self.disk(79) == [])
    #expect(Self.disk(80).map(\.key) == ["disk-80"])
    #expect(Self.disk(90).first?.included == ["disk-80"])
    #expect(Self.disk(95).first?.included == ["disk-90", "disk-80"] && Self.disk(100).first?.finding.level == .error)
    #expect(Self.mail == [] && Self.late.map(\.key) == ["backup_late"])
  }

  @Test func `an alert is sent once while its state lasts`() {
    var history = AlertHistory()
    #expect(history.update(Self.late, now: 0).count == 1)
    for hour in 1..<100 as Range<Int64> { #expect(history.update(Self.late, now: hour * Self.hour) == []) }
  }

  @Test func `a state that comes back is sent once a day`() {
    var history = AlertHistory()
    var sent: [Int64] = []
    // The finding ends and comes back each hour.
    for hour in 0..<72 as Range<Int64> {
      if !history.update(hour % 2 == 0 ? Self.late : [], now: hour * Self.hour).isEmpty { sent.append(hour) }
    }
    #expect(sent == [0, 24, 48])
  }

  @Test func `a state that comes back within the day and stays is sent after the day`() {
    var history = AlertHistory()
    _ = history.update(Self.late, now: 0)
    _ = history.update([], now: Self.hour)
    #expect(history.update(Self.late, now: 2 * Self.hour) == [])
    #expect(history.update(Self.late, now: 24 * Self.hour).count == 1)
    #expect(history.update(Self.late, now: 48 * Self.hour) == [])
  }

  @Test func `a disk that fills up has an alert for each step, and none on the way back`() {
    var history = AlertHistory()
    let levels = [70, 81, 85, 92, 96, 99, 93, 85, 96]
    let sent = levels.enumerated().flatMap { index, percent in
      history.update(Self.disk(percent), now: Int64(index) * Self.hour).map(\.key)
    }
    #expect(sent == ["disk-80", "disk-90", "disk-95"])
  }

  @Test func `a clock that was ahead holds no alert back`() {
    var history = AlertHistory()
    _ = history.update(Self.late, now: 1_000 * Self.hour)
    _ = history.update([], now: 1_001 * Self.hour)
    #expect(history.update(Self.late, now: 10 * Self.hour).count == 1)
  }

  @Test func `the history survives as JSON`() throws {
    var history = AlertHistory()
    _ = history.update(Self.late + Self.disk(91), now: Self.hour)
    _ = history.update(Self.late, now: 2 * Self.hour)
    var json = JSONWriter()
    json.value(history)
    #expect(try AlertHistory(json: JSONValue(parsing: json.bytes)) == history)
  }

  @Test(
    arguments: [
      ("/bin/a", ["/bin/a"]), ("  /bin/a  b\tc ", ["/bin/a", "b", "c"]), ("/a 'b c' \"d e\"", ["/a", "b c", "d e"]),
      (#"/a b\ c 'd\e' "f\"g""#, ["/a", "b c", #"d\e"#, "f\"g"]), ("/a ''", ["/a", ""]), ("/a x'y'z", ["/a", "xyz"]),
      ("/a 'b", nil), ("/a \\", nil), ("/a $HOME *", ["/a", "$HOME", "*"]), ("", []),
    ] as [(String, [String]?)])
  func `a command is split into words without a shell`(text: String, words: [String]?) {
    #expect(ChildProgram.words(text) == words)
  }

  @Test func `only the arguments of a program have placeholders`() {
    let program = ChildProgram(["/{}/a", "{}", "to:{}/{}", "b"]).replacing(with: "x y")
    #expect(program.arguments == ["/{}/a", "x y", "to:x y/x y", "b"])
  }

  @Test func `a program runs with its input, output and limit`() async {
    let run = { @Sendable (arguments: [String], input: String, seconds: Int) in
      await ChildProgram(arguments).run(input: input, environment: ["ALERT": "x y"], within: seconds)
    }
    let echoed = await run(["/bin/sh", "-c", "cat; printf \"$ALERT\" >&2; exit 3"], "wool ", 30)
    #expect(echoed == ChildProgram.Result(end: .exited(3), output: "wool x y"))
    #expect(await run(["/bin/true"], "", 30).isSuccess)
    let killed = await run(["/bin/sh", "-c", "kill -9 $$"], "", 30)
    #expect(killed.end == .signalled(9))
    let slow = await run(["/bin/sh", "-c", "echo begun; sleep 100"], "", 1)
    #expect(slow == ChildProgram.Result(end: .timedOut, output: "begun"))
    let cancelled = Task { await run(["/bin/sh", "-c", "echo begun; sleep 100"], "", 100) }
    cancelled.cancel()
    #expect(await cancelled.value.end == .cancelled)
    let missing = await run(["/nowhere/at/all"], "", 1)
    #expect(missing.reason.hasPrefix("it can't be started: "))
    let long = await run(["/bin/sh", "-c", "yes | head -c 100000; echo end"], "", 30)
    #expect(long.isSuccess && long.output.utf8.count <= 4_096 && long.output.hasSuffix("end"))
    // Programs that end before their output is read, on a busy machine.
    let many = await withTaskGroup(of: ChildProgram.Result.self) { group in
      for _ in 0..<40 { group.addTask { await run(["/bin/sh", "-c", "printf %060000d 1; echo end"], "", 30) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(many.allSatisfy { $0.isSuccess && $0.output.hasSuffix("1end") })
  }
}
