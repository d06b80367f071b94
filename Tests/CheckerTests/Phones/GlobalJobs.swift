import Foundation

/// Jobs without an executor: the runtime's hook for global jobs sends them to the lane of the current thread.
enum GlobalJobs {
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  /// The lane of this thread. The caller must retain it until it is reset.
  static var lane: Lane? {
    get { pthread_getspecific(key).map { Unmanaged<Lane>.fromOpaque($0).takeUnretainedValue() } }
    set { pthread_setspecific(key, newValue.map { Unmanaged.passUnretained($0).toOpaque() }) }
  }

  /// Installs the hook. Jobs of threads without a lane go to the global executor.
  static let areHooked: Bool = {
    guard let symbol = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else { return false }
    let hook: Hook = { job, original in
      if let lane = GlobalJobs.lane { lane.add(.global(job)) } else { original(job) }
    }
    symbol.assumingMemoryBound(to: Hook?.self).pointee = hook
    return true
  }()

  /// The generic executor.
  static let executor = unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self)
}
