import ParleyModel

@testable import API
@testable import Community
@testable import Storage

/// Requests of the devices. Responses are current; a device may have received fewer events, or more.
extension Schedule {
  /// Fetches the data that no event contained.
  func fetchNeeds(of device: Device) async throws {
    let caller = try stage.server.caller(device.user)
    let asOf = device.asOf
    for need in device.needs {
      do throws(Refusal) {
        switch need {
        case .user(let id): try merge(user: id, device, caller)
        case .forum(let id):
          let forum = try stage.server.view.getForum(id, for: caller)
          device.merge { $0.merge(forum, asOf: asOf) }
        case .conversation(let id):
          guard case .forUser(let own) = try stage.server.view.getConversation(id, for: caller) else { break }
          device.merge { $0.merge(own, asOf: asOf) }
          let messages = try await stage.messages(of: id, for: caller)
          device.merge { $0.merge(messages, asOf: asOf) }
        case .message(let id):
          let message = try stage.server.view.getPlainMessage(id, for: caller)
          device.merge { $0.merge([message], asOf: asOf) }
        case .inbox:
          let page = try await stage.server.community.listNotifications(
            kind: nil, isUnread: true, PageRequest(limit: 1), MessageOptions(), for: caller)
          device.merge { $0.merge(page.unread) }
        case .everything: fail("\(device.name) has to reset")
        }
      } catch {
        guard case .notFound = error else { throw error }
        device.merge { $0.drop(need) }
      }
    }
  }

  private func merge(user: ID<User>, _ device: Device, _ caller: Caller) throws(Refusal) {
    let found = try stage.server.view.getUser(.id(user), for: caller)
    device.merge { $0.merge(found) }
  }
}
