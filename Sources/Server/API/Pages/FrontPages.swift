// The front page, the list of forums, and a page that does not exist.

import Community
import ParleyMarkup
import ParleyModel

/// A forum as lists show it.
struct ListedForum: Sendable {
  let forum: Forum
  let topicCount: Int
  /// The newest message, if everyone may read it.
  let last: MessageView?
}

extension PageContext {
  private static let maxForums = 100

  /// The first public forums with their counts and newest messages.
  func forums() async throws -> [ListedForum] {
    let forums = try view.listForums(PageRequest(limit: Self.maxForums), for: caller).items.map(\.forum)
      .sorted { ($0.position, $0.id) < ($1.position, $1.id) }
    let counts = try view.getTopicCounts(of: forums.map(\.id), for: caller)
    let last = try await messages(forums.compactMap(\.lastMessage))
    return forums.map { forum in
      ListedForum(forum: forum, topicCount: counts[forum.id] ?? 0, last: forum.lastMessage.flatMap { last[$0] })
    }
  }

  func frontPage() async throws -> VisitorPage {
    let facts = try view.getServer()
    guard facts.isSetUp else { return newSitePage() }
    let (forums, settings) = (try await forums(), site.settings)
    var page = VisitorPage([]) { html in
      html.tag("div", ["class": "front"]) { html in
        html.void("img", ["src": VisitorPage.icon, "alt": "", "width": "64", "height": "64"])
        html.tag("h1") { $0.tag("bdi", [:], settings.name) }
        if !settings.welcome.isEmpty { html.markdown(settings.welcome) }
        if settings.registration == .open || settings.registration == .approval {
          html.tag("p") { html in
            let address = PageAddress.signUp(back: "/")
            html.tag("a", ["class": "button is-primary", "href": address], html.words[.createAccount])
          }
        }
      }
      html.tag("h2", [:], html.words[.forums])
      Self.writeForums(forums, to: &html)
    }
    page.describe(settings.welcome)
    page.canonical = "/"
    page.feeds = "/"
    return page
  }

  func forumsPage() async throws -> VisitorPage {
    let forums = try await forums()
    var page = VisitorPage([words[.forums]]) { html in
      html.tag("h1", [:], html.words[.forums])
      Self.writeForums(forums, to: &html)
    }
    page.canonical = "/forums"
    page.feeds = "/"
    return page
  }

  private static func writeForums(_ forums: [ListedForum], to html: inout TagWriter) {
    guard !forums.isEmpty else { return html.tag("p", ["class": "second"], html.words[.noForums]) }
    html.tag("ul", ["class": "tiles"]) { html in
      for listed in forums {
        html.tag("li", ["class": "tile"]) { html in
          html.void(
            "img",
            [
              "src": "/api/v1/forums/\(listed.forum.id)/icon", "alt": "", "width": "36", "height": "36",
              "loading": "lazy",
            ])
          html.tag("div") { html in
            html.tag("h3") { html in
              html.tag("a", ["href": PageAddress.forum(listed.forum)]) { $0.tag("bdi", [:], listed.forum.title) }
            }
            if !listed.forum.about.isEmpty {
              html.tag("p", ["dir": "auto"], MarkupDocument(listed.forum.about).plainText(limit: 160))
            }
            html.tag("p", ["class": "second"]) { html in
              html.text(html.words.topics(listed.topicCount) + " · ")
              if let last = listed.last {
                html.time(last.message.createdAt)
              } else {
                html.text(html.words[.noActivity])
              }
            }
          }
        }
      }
    }
  }

  private func newSitePage() -> VisitorPage {
    VisitorPage([words[.newTitle]]) { html in
      html.tag("h1", [:], html.words[.newTitle])
      html.tag("p", [:], html.words[.newLead])
    }
  }

  /// The page for everything that visitors may not see, whether it exists or not.
  func missingPage() -> VisitorPage {
    let back = site.address
    var page = VisitorPage([words[.missingTitle]]) { html in
      html.tag("div", ["class": "front"]) { html in
        html.tag("h1", [:], html.words[.missingTitle])
        html.tag("p", [:], html.words[.missing])
        html.tag("p") { html in
          html.tag("a", ["class": "button is-primary", "href": PageAddress.signIn(back: back)], html.words[.signIn])
          html.text(" ")
          html.tag("a", ["class": "button", "href": "/"], html.words[.home])
        }
      }
    }
    page.status = .notFound
    return page
  }
}
