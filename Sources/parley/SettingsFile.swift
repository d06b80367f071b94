import ParleyJSON
import ParleyNetworking

/// The settings file `parley.conf`: lines `name = value`, comments and empty lines.
struct SettingsFile: Sendable {
  struct Entry: Sendable, Equatable {
    let name: String
    let value: String
    let line: Int
  }

  let path: String
  private(set) var entries: [Entry] = []
  /// All faults of the text, each as a sentence that begins with the file and the line.
  private(set) var faults: [String] = []

  /// The file that is read if no other one is named and it exists.
  static let defaultPath = "/etc/parley/parley.conf"
  /// The path that stands for no file.
  static let none = "none"

  /// The settings that a file may have: all of them but the one that names the file.
  static let settings = Setting.all.filter { $0.name != Setting.config.name }

  init(_ path: String) throws(Settings.UsageError) { self.init(parsing: try FileSystem.read(path), path) }

  init(parsing bytes: [UInt8], _ path: String) {
    self.path = path
    guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else {
      faults.append("\(path) is not a text in UTF-8.")
      return
    }
    var lines: [String: Int] = [:]
    // Windows ends lines with CR LF, and its editors begin a file with a byte order mark.
    let all = text.drop { $0 == "\u{feff}" }.utf8.split(separator: 10, omittingEmptySubsequences: false)
    for (index, bytes) in all.enumerated() {
      let line = Substring(bytes).trimmingBlanks
      guard !line.isEmpty, !line.hasPrefix("#") else { continue }
      add(line, number: index + 1, &lines)
    }
  }

  /// The file of a command: the flag, else the variable, else the default file if it exists.
  static func path(_ flag: String?, _ environment: [String: String]) -> String? {
    let named = flag ?? environment[Setting.config.variable].flatMap { $0.isEmpty ? nil : $0 }
    if named == none { return nil }
    return named ?? (FileSystem.isMissing(defaultPath) ? nil : defaultPath)
  }

  private mutating func add(_ line: String, number: Int, _ lines: inout [String: Int]) {
    let location = "\(path):\(number): "
    func fault(_ sentence: String) -> String { location + sentence }
    guard let equals = line.firstIndex(of: "=") else {
      faults.append(fault("\"\(Terminal.plain(line.shortened))\" has no =. A line is: name = value."))
      return
    }
    let name = line[..<equals].trimmingBlanks
    let value = line[line.index(after: equals)...].trimmingBlanks
    guard let setting = Self.settings.first(where: { $0.name == name }) else {
      faults.append(fault(Self.unknown(name)))
      return
    }
    if let sentence = Self.mistake(value, of: setting) {
      faults.append(fault(sentence))
    } else if let first = lines[name], !setting.isRepeatable {
      faults.append(fault("\(name) is already set in line \(first)."))
    } else {
      lines[name] = number
      let values = setting.isRepeatable ? setting.list(value) : [value]
      entries += values.map { Entry(name: name, value: $0, line: number) }
    }
  }

  private static func unknown(_ name: String) -> String {
    // Names as on the command line and in the environment.
    let typed = name.lowercased().replacing("_", with: "-")
    let prefix = Setting.variablePrefix.lowercased().replacing("_", with: "-")
    let plain = typed.hasPrefix(prefix) ? String(typed.dropFirst(prefix.count)) : String(typed.drop { $0 == "-" })
    let nearest = Spelling.nearest(to: plain, in: settings.map(\.name))
    return "\"\(Terminal.plain(name.shortened))\" is not a setting. "
      + (nearest.map { "Did you mean \($0)?" } ?? "parley serve --help lists all settings.")
  }

  /// The fault of a value of any setting of this kind; nil for a valid one.
  private static func mistake(_ value: String, of setting: Setting) -> String? {
    if value.isEmpty { return "\(setting.name) has no value. Remove the line for the default." }
    if value.count > 1, value.hasPrefix("\""), value.hasSuffix("\""), !value.dropFirst().dropLast().contains("\"") {
      return "\(setting.name): a value stands without quotation marks."
    }
    if setting.value == nil, Setting.switchValue(value) == nil {
      return "\(setting.name) takes yes or no, not \"\(Terminal.plain(value.shortened))\"."
    }
    return nil
  }
}

extension StringProtocol {
  /// Without spaces, tabs and carriage returns at both ends.
  var trimmingBlanks: String {
    let isBlank = { (character: Character) in character == " " || character == "\t" || character == "\r" }
    return String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
  }

  /// For error messages.
  fileprivate var shortened: String { count > 40 ? prefix(40) + "…" : String(self) }
}
