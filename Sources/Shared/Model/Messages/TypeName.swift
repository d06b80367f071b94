/// Type name of an app's data: a reversed domain name such as `com.example.todo`, so that no registry is needed.
public enum TypeName {
  /// The maximum length of a type name in bytes.
  public static let maxBytes = 128

  /// Letters, digits, `_` and `-`, in two parts or more with a dot between.
  public static func isWellFormed(_ text: String) -> Bool {
    guard text.utf8.count <= maxBytes else { return false }
    var parts = 1
    var isEmpty = true
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
        isEmpty = false
      case UInt8(ascii: "."):
        guard !isEmpty else { return false }
        parts += 1
        isEmpty = true
      default: return false
      }
    }
    return parts > 1 && !isEmpty
  }

  /// Rest of a name under a prefix of earlier networks, where only known names are allowed; nil for other names.
  public static func core(_ type: String) -> Substring? {
    for prefix in ["net.app.core.", "io.pnut.core."] where type.hasPrefix(prefix) {
      return type.dropFirst(prefix.count)
    }
    return nil
  }
}
