import ParleySQLite

/// What can be wrong with what is held here.
public enum CacheFault: Error, Sendable, Hashable {
  /// The disk is full or broken, or the file is another's. The text is for developers.
  case broken(String)
  /// Another process has it.
  case inUse
  /// A later version of the app has written it.
  case newer(version: Int)
  /// It was erased while somebody was still asking.
  case closed
}

extension CacheFault {
  public var sentence: String {
    switch self {
    case .broken: "What is kept on this device can't be read or written."
    case .inUse: "Another program is using what is kept on this device."
    case .newer: "What is kept on this device is from a newer version of the app."
    case .closed: "You have signed out."
    }
  }
}

extension CacheFault {
  /// Of a file that is kept by SQLite.
  init(_ error: any Error) {
    if let error = error as? SQLiteError, [.busy, .locked].contains(error.code) {
      self = .inUse
    } else {
      self = .broken("\(error)")
    }
  }
}
