import Testing

@testable import ParleyProgram

@Suite struct OutputTests {
  @Test(arguments: [
    (0, "0 bytes"), (999, "999 bytes"), (1_000, "1.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"),
    (1_234_567_890, "1.2 GB"), (5_000_000_000_000_000, "5000.0 TB"),
  ])
  func `byte counts use a suitable unit`(number: Int, text: String) {
    #expect(Amount.bytes(number) == text)
  }

  @Test(arguments: [(0, "0 files"), (1, "1 file"), (1_000, "1,000 files"), (1_234_567, "1,234,567 files")])
  func `counts have their noun`(number: Int, text: String) {
    #expect(Amount.count(number, "file") == text)
  }

  @Test func `a noun may have an irregular plural`() {
    #expect(Amount.count(1, "copy", "copies") == "1 copy" && Amount.count(0, "copy", "copies") == "0 copies")
  }

  @Test(arguments: [
    (0, 0, "packing                  …"), (0, 10, "packing                  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░   0 %"),
    (5, 10, "packing                  ███████████████░░░░░░░░░░░░░░░  50 %"),
    (20, 10, "packing                  ██████████████████████████████ 100 %"),
    (Int.max - 1, Int.max, "packing                  ██████████████████████████████ 100 %"),
  ])
  func `a progress bar shows the completed share`(done: Int, total: Int, line: String) {
    #expect(ProgressBar.line(Progress("packing", done: done, of: total)) == line)
  }

  @Test func `a line fits a narrow terminal`() {
    let half = Progress("a photograph of the garden.jpg", done: 5, of: 10)
    #expect(ProgressBar.line(half, columns: 40) == "a photograph of the gar… ████░░░░  50 %")
    #expect(ProgressBar.line(half, columns: 20) == "a photograp…   50 %")
    for columns in 8...70 {
      #expect(ProgressBar.line(half, columns: columns).count < columns)
      #expect(ProgressBar.line(Progress("a photograph of the garden.jpg"), columns: columns).count < columns)
    }
  }

  @Test func `control characters are replaced`() {
    let outcome = Outcome(.failure, "\u{1b}[2J\u{7}rose\u{9b}31m\nü\u{7f}")
    #expect(outcome.printable == "\u{fffd}[2J\u{fffd}rose\u{fffd}31m\nü\u{fffd}")
  }
}
