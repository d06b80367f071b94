import ParleyWire

/// The memory of a process in bytes (proc(5)).
struct ProcessMemory {
  let resident: Int
  let anonymous: Int

  init(of process: Int) throws {
    let status = String(decoding: try FileBytes.read("/proc/\(process)/status"), as: UTF8.self)
    func kilobytes(_ name: String) -> Int {
      let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
      return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0
    }
    resident = kilobytes("VmRSS") * 1024
    anonymous = kilobytes("RssAnon") * 1024
  }
}
