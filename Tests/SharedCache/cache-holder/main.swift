// Opens the shared file of a cache as another process of an app would, for `SharedFileTests`.
//
//     cache-holder read FILE MESSAGE      prints the text of a message, read beside the app
//     cache-holder hold FILE              prints "open", or the code of the fault; holds the file until its input ends

import Glibc
import ParleyKit

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { exit(2) }
do {
  switch arguments[1] {
  case "read":
    let reader = try CacheReader(arguments[2], patience: .zero)
    let message = try ID<Message>(arguments[3]).flatMap { try reader.message($0) }
    print(message?.content?.text ?? "none")
  default:
    let store = try DiskStore(arguments[2], isShared: true, patience: .zero)
    print("open")
    fflush(nil)
    while readLine() != nil { continue }
    withExtendedLifetime(store) {}
  }
} catch let fault as CacheFault {
  print(fault.code)
}
