import Foundation

/// What a thread begins that belongs to no executor: the runtime asks a hook of its own where such a job is to go.
enum GlobalJobs {
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  /// That of this thread. Whoever sets it holds it until it is taken away again.
  static var lane: Lane? {
    get { pthread_getspecific(key).map { Unmanaged<Lane>.fromOpaque($0).takeUnretainedValue() } }
    set { pthread_setspecific(key, newValue.map { Unmanaged.passUnretained($0).toOpaque() }) }
  }

  /// From now on what a lane begins stays on it. Everybody else’s jobs go where they went.
  static let areHooked: Bool = {
    guard let symbol = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else { return false }
    let hook: Hook = { job, original in
      if let lane = GlobalJobs.lane { lane.add(.global(job)) } else { original(job) }
    }
    symbol.assumingMemoryBound(to: Hook?.self).pointee = hook
    return true
  }()

  /// What such a job runs on: no executor in particular.
  static let executor = unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self)
}
