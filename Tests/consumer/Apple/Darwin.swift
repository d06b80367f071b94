// The declarations of Darwin that ParleySQLite uses. They only let the compiler check those lines for macOS on Linux.

public typealias time_t = Int
public struct timespec {
  public var tv_sec = 0
  public var tv_nsec = 0
  public init() {}
}
public let CLOCK_THREAD_CPUTIME_ID: Int32 = 0
@discardableResult @unsafe public func clock_gettime(_ a: Int32, _ b: UnsafeMutablePointer<timespec>) -> Int32 { 0 }
public let F_OK: Int32 = 0, O_RDONLY: Int32 = 0, O_WRONLY: Int32 = 0, O_CREAT: Int32 = 0, O_EXCL: Int32 = 0,
  O_CLOEXEC: Int32 = 0, O_NOFOLLOW: Int32 = 0
public let EINTR: Int32 = 4, ENOENT: Int32 = 2, ENOSPC: Int32 = 3
public var errno: Int32 {
  get { 0 }
  set {}
}
public struct dirent { public var d_name: (CChar, CChar) }
public struct DIR {}
@discardableResult @unsafe public func opendir(_ a: UnsafePointer<CChar>) -> UnsafeMutablePointer<DIR>? { nil }
@discardableResult @unsafe public func closedir(_ a: UnsafeMutablePointer<DIR>) -> Int32 { 0 }
@discardableResult @unsafe public func readdir(_ a: UnsafeMutablePointer<DIR>) -> UnsafeMutablePointer<dirent>? { nil }
@discardableResult @unsafe public func read(_ a: Int32, _ b: UnsafeMutableRawPointer, _ c: Int) -> Int { 0 }
@discardableResult @unsafe public func write(_ a: Int32, _ b: UnsafeRawPointer?, _ c: Int) -> Int { 0 }
@discardableResult @unsafe public func access(_ a: UnsafePointer<CChar>, _ b: Int32) -> Int32 { 0 }
@discardableResult @unsafe public func open(_ a: UnsafePointer<CChar>, _ b: Int32, _ c: UInt16 = 0) -> Int32 { 0 }
@discardableResult public func close(_ a: Int32) -> Int32 { 0 }
@discardableResult public func fsync(_ a: Int32) -> Int32 { 0 }
@discardableResult @unsafe public func rename(_ a: UnsafePointer<CChar>, _ b: UnsafePointer<CChar>) -> Int32 { 0 }
@discardableResult @unsafe public func unlink(_ a: UnsafePointer<CChar>) -> Int32 { 0 }
@discardableResult @unsafe public func chmod(_ a: UnsafePointer<CChar>, _ b: UInt16) -> Int32 { 0 }
@discardableResult @unsafe public func strerror_r(_ a: Int32, _ b: UnsafeMutablePointer<CChar>, _ c: Int) -> Int32 { 0 }
