import CParleyLinux

/// Settings of the C allocator, which the Swift runtime uses.
public enum Allocator {
  /// Call before the first thread starts. By default glibc raises the size from which a buffer has its own mapping with
  /// each freed one, and makes eight arenas per core: after a burst, large buffers stay in fragmented arenas.
  public static func configure(cores: Int) {
    mallopt(M_MMAP_THRESHOLD, 131_072)
    // Set explicitly, because a fixed threshold above also fixes this one, at a size that would trim after every burst.
    mallopt(M_TRIM_THRESHOLD, 1_048_576)
    mallopt(M_ARENA_MAX, Int32(max(2, cores)))
  }

  /// Returns free pages to the system.
  public static func trim() {
    malloc_trim(0)
  }
}
