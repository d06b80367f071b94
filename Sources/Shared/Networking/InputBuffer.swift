/// Memory that a loop lends to each connection while it reads.
@safe struct InputBuffer: ~Copyable {
  let bytes: UnsafeMutableRawBufferPointer

  init(size: Int) {
    unsafe bytes = .allocate(byteCount: size, alignment: 16)
  }

  deinit { unsafe bytes.deallocate() }
}
