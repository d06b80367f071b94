import ParleyJSON

/// A state of the site or of its machine that needs the operator.
struct Finding: Equatable {
  enum Level: String, CaseIterable {
    /// A future error, or an error for some users.
    case warning
    case error
  }

  /// The stable name of the kind.
  enum Code: String, CaseIterable {
    // Findings about the running site.
    case notRunning = "not_running"
    case notReady = "not_ready"
    case disk, damage, restored
    case fileDamage = "file_damage"
    case backupMissing = "backup_missing"
    case backupLate = "backup_late"
    case backupIncomplete = "backup_incomplete"
    case offSiteLate = "off_site_late"
    case restoreTest = "restore_test"
    case restoreTestRoom = "restore_test_room"
    case certificate
    case certificateName = "certificate_name"
    case mail
    case clockStep = "clock_step"
    case uncleanStop = "unclean_stop"
    // Findings about the machine and the settings.
    case version
    case settingsMistake = "settings_mistake"
    case settingsChanged = "settings_changed"
    case dataFolder = "data_folder"
    case descriptors
    case slowDisk = "slow_disk"
    case clock
    case publicURL = "public_url"
    // Findings about the public address.
    case name, port, tls, redirect, site
    case proxyTrust = "proxy_trust"
    case proxyClient = "proxy_client"
    case webSocket = "websocket"
    case upload
  }

  let level: Level
  let code: Code
  /// The fault, and the command or setting that mends it.
  let sentence: String

  static func warning(_ code: Code, _ sentence: String) -> Finding {
    Finding(level: .warning, code: code, sentence: sentence)
  }

  static func error(_ code: Code, _ sentence: String) -> Finding {
    Finding(level: .error, code: code, sentence: sentence)
  }
}

extension Finding: JSONReadable, JSONWritable {
  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    level = try object.word("level")
    code = try object.word("code")
    sentence = try object.string("sentence")
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("level", level.rawValue)
      json.field("code", code.rawValue)
      json.field("sentence", sentence)
    }
  }
}

extension [Finding] {
  /// The gravest level; nil without findings.
  var level: Finding.Level? { contains { $0.level == .error } ? .error : isEmpty ? nil : .warning }

  /// 0 without findings, 1 with warnings, 2 with errors.
  var exitStatus: Outcome.Status {
    switch level {
    case nil: .success
    case .warning: .failure
    case .error: .error
    }
  }
}
