import ACME
import API
import CFaultyVFS
import CLinux
import COpenSSL
import CSQLite
import CZlib
import Calling
import Community
import Crypto
import Dialects
import Foundation
import HTTPClient
import Imports
import Issuers
import JSON
import Markup
import Media
import Model
import Networking
import OAuth
import OIDC
import ParleyKit
import Previews
import PubSub
import SQLite
import Samples
import Serving
import Storage
import TestSupport
import Web
import WebAuthn
import WebPush
import Webhooks
import Wire

let arguments = CommandLine.arguments
guard arguments.count == 4, let password = readLine() else {
  print("usage: \(arguments[0]) ADDRESS ROOM CACHE, and the password of ada on standard input")
  exit(2)
}
let modules = [
  ACME.Own.module, API.Own.module, CFaultyVFS.Own.module, CLinux.Own.module, COpenSSL.Own.module, CSQLite.Own.module,
  CZlib.Own.module,
  Calling.Own.module, Community.Own.module, Crypto.Own.module, Dialects.Own.module, HTTPClient.Own.module,
  Imports.Own.module,
  Issuers.Own.module, JSON.Own.module,
  Markup.Own.module, Media.Own.module, Model.Own.module, Networking.Own.module, OAuth.Own.module,
  OIDC.Own.module, Previews.Own.module,
  PubSub.Own.module, SQLite.Own.module, Samples.Own.module, Serving.Own.module, Storage.Own.module,
  TestSupport.Own.module, Web.Own.module, WebAuthn.Own.module, WebPush.Own.module, Webhooks.Own.module, Wire.Own.module,
]
let diary = try await Diary(arguments[1], room: arguments[2], password: password, cache: arguments[3])
let message = try await diary.write("From \(modules.count) modules")
print(message?.content?.actions.map { "\($0.type): \($0.count)" }.joined() ?? "no message")
for text in try await diary.read() { print(text) }
print("complete through \(try await diary.check() ?? 0)")
await diary.parley.stop()
