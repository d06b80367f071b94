/// Read buffer memory, shared by all connections of a loop.
@safe struct InputBuffer: ~Copyable {
  let bytes: UnsafeMutableRawBufferPointer

  init(size: Int) {
    unsafe bytes = .allocate(byteCount: size, alignment: 16)
  }

  deinit { unsafe bytes.deallocate() }
}
