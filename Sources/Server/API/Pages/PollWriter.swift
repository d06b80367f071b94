// A poll on pages and in feeds: its options with their counts. Voting takes an account.

import ParleyJSON
import ParleyModel

extension Poll {
  /// The options with bars, for a page.
  func write(to html: inout TagWriter, at time: Int64) {
    html.tag("div", ["class": "poll"]) { html in
      html.tag("ul", ["aria-label": html.words[.pollName]]) { html in
        for option in options {
          html.tag("li") { html in
            html.tag("bdi", [:], option.text)
            html.tag("span", ["class": "second"], html.words.votes(option.votes, share: share(of: option)))
            html.tag(
              "progress", ["max": "100", "value": String(share(of: option)), "aria-hidden": "true"]
            ) { _ in }
          }
        }
      }
      html.tag("p", ["class": "second"]) { html in
        html.text(html.words.voters(voters))
        html.text(" · ")
        writeClosing(to: &html, at: time)
      }
    }
  }

  private func writeClosing(to html: inout TagWriter, at time: Int64) {
    guard let closesAt else { return html.text(html.words[.pollOpen]) }
    guard !isClosed(at: time) else { return html.text(html.words[.pollClosed]) }
    let parts = html.words[.pollCloses].split(by: "{at}")
    html.text(String(parts[0]))
    html.time(closesAt)
    html.text(parts.dropFirst().joined())
  }

  /// The options as a list, for a feed. It omits the closing time, because feed readers keep entries.
  func list(at time: Int64, _ words: PageText) -> String {
    var html = TagWriter()
    html.tag("ul") { html in
      for option in options {
        html.tag("li", [:], "\(option.text): \(words.votes(option.votes, share: share(of: option)))")
      }
    }
    let state = isClosed(at: time) ? words[.pollClosed] : words[.pollOpen]
    html.tag("p", [:], "\(words.voters(voters)) · \(state)")
    return String(decoding: html.bytes, as: UTF8.self)
  }

  /// Per cent of the voters, rounded. With several choices the shares add up to more than 100.
  private func share(of option: Option) -> Int {
    voters == 0 ? 0 : (option.votes * 200 + voters) / (2 * voters)
  }
}
