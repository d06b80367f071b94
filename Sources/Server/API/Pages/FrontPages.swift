// The front page, the list of forums, and a page that does not exist.

import Community
import ParleyMarkup
import ParleyModel

/// Public forums as a page shows them, with the writers of their newest topics.
private struct ForumTiles: Sendable {
  let forums: [ForumView]
  let writers: [ID<User>: Author]
  /// The addresses of the neighbouring pages.
  let previous: String?
  let next: String?
}

extension PageContext {
  private static let maxForums = 100
  private static let forumList = ListName(path: "/forums", filters: [])

  /// Forums with their activity. All of them on one page are in the order of the staff, else the newest activity is first.
  private func forums(from position: ListPosition? = nil) async throws -> ForumTiles {
    let found = try await api.community.listForums(
      with: nil, PageRequest(position, limit: Self.maxForums), for: caller)
    func address(_ position: ListPosition) -> String { "/forums?page=\(position.text(in: Self.forumList))" }
    var forums = found.items
    if found.previous == nil && found.next == nil {
      forums.sort { ($0.forum.position, $0.forum.id) < ($1.forum.position, $1.forum.id) }
    }
    return ForumTiles(
      forums: forums,
      writers: try view.getAuthors(Set(forums.compactMap { $0.activity?.lastTopic?.author }), for: caller),
      previous: found.previous.map(address), next: found.next.map(address))
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
    let position = try position(in: Self.forumList)
    let forums = try await forums(from: position)
    var page = VisitorPage([words[.forums]]) { html in
      html.tag("h1", [:], html.words[.forums])
      Self.writeForums(forums, to: &html)
    }
    // Other pages of the list change with every post.
    page.canonical = position == nil ? "/forums" : nil
    (page.previous, page.next) = (forums.previous, forums.next)
    page.feeds = "/"
    return page
  }

  private static func writeForums(_ tiles: ForumTiles, to html: inout TagWriter) {
    guard !tiles.forums.isEmpty else { return html.tag("p", ["class": "second"], html.words[.noForums]) }
    html.tag("ul", ["class": "tiles"]) { html in
      for listed in tiles.forums {
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
            if let last = listed.activity?.lastTopic { writeLast(last, by: tiles.writers[last.author], to: &html) }
            html.tag("p", ["class": "second"]) { html in
              html.text(html.words.topics(listed.activity?.topicCount ?? 0) + " · ")
              if let count = listed.memberCount { html.text(html.words.members(count) + " · ") }
              if let time = listed.activity?.lastActivityAt {
                html.time(time)
              } else {
                html.text(html.words[.noActivity])
              }
            }
          }
        }
      }
    }
    html.pageLinks(tiles.previous, tiles.next)
  }

  private static func writeLast(_ topic: LastTopic, by writer: Author?, to html: inout TagWriter) {
    html.tag("p", ["class": "second"]) { html in
      html.tag("a", ["href": PageAddress.topic(topic.id, topic.title)]) { $0.tag("bdi", [:], topic.title) }
      html.text(" · ")
      html.tag("bdi", [:], html.words.name(of: writer))
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
