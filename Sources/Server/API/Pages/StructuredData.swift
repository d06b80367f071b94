// JSON-LD of schema.org, as search engines read it.

import Community
import ParleyJSON
import ParleyModel

enum StructuredData {
  /// The longest text of a comment and of the first post.
  static let maxCommentScalars = 500
  static let maxPostScalars = 5_000

  static func breadcrumb(_ links: [(title: String, path: String)], in site: PageSite) -> [UInt8] {
    document("BreadcrumbList") { json in
      json.array("itemListElement") { json in
        for (index, link) in ([(site.words[.forums], "/forums")] + links).enumerated() {
          json.object { json in
            json.field("@type", "ListItem")
            json.field("position", index + 1)
            json.field("name", link.0)
            json.field("item", site.url(link.1))
          }
        }
      }
    }
  }

  static func topic(_ posts: TopicPosts, in site: PageSite) -> [UInt8] {
    let (topic, opening) = (posts.topic, posts.opening)
    return document("DiscussionForumPosting") { json in
      let url = site.url(posts.path)
      json.field("@id", url)
      json.field("url", url)
      json.field("mainEntityOfPage", url)
      json.field("headline", topic.title)
      json.field("text", opening?.message.plainText(limit: maxPostScalars) ?? "")
      if let picture = posts.list.picture, posts.from == nil { json.field("image", site.url(picture)) }
      write("author", opening?.message.author ?? topic.createdBy, posts.list, site, to: &json)
      json.field("datePublished", Timestamp(opening?.message.createdAt ?? topic.createdAt))
      if let edit = opening?.message.content?.edit { json.field("dateModified", Timestamp(edit.at)) }
      json.object("isPartOf") { json in
        json.field("@type", "WebPage")
        json.field("name", posts.forum.title)
        json.field("url", site.url(PageAddress.forum(posts.forum)))
      }
      json.field("commentCount", max(0, topic.lastSeq - 1))
      json.array("interactionStatistic") { json in
        write("CommentAction", max(0, topic.lastSeq - 1), to: &json)
        write("LikeAction", opening?.message.count(of: "like") ?? 0, to: &json)
      }
      json.array("comment") { json in
        for view in posts.list.messages where view.message.isLive && view.message.id != opening?.message.id {
          writeComment(view.message, posts.list, site, to: &json)
        }
      }
    }
  }

  private static func writeComment(
    _ message: Message, _ list: PostList, _ site: PageSite, to json: inout JSONWriter
  ) {
    json.object { json in
      json.field("@type", "Comment")
      json.field("url", site.url(PageAddress.message(message.id)))
      json.field("text", message.plainText(limit: maxCommentScalars))
      write("author", message.author, list, site, to: &json)
      json.field("datePublished", Timestamp(message.createdAt))
    }
  }

  private static func write(
    _ name: String, _ user: ID<User>, _ list: PostList, _ site: PageSite, to json: inout JSONWriter
  ) {
    json.object(name) { json in
      json.field("@type", "Person")
      json.field("name", list.name(of: user))
      if let page = list.authors[user]?.page { json.field("url", site.url(page)) }
    }
  }

  private static func write(_ action: String, _ count: Int, to json: inout JSONWriter) {
    json.object { json in
      json.field("@type", "InteractionCounter")
      json.field("interactionType", "https://schema.org/\(action)")
      json.field("userInteractionCount", count)
    }
  }

  private static func document(_ type: String, _ members: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.field("@context", "https://schema.org")
      json.field("@type", type)
      members(&json)
    }
    return escaped(json.bytes)
  }

  /// HTML ends a script element at `</script`, whatever its type. In JSON these characters occur in strings only.
  static func escaped(_ json: [UInt8]) -> [UInt8] {
    var escaped: [UInt8] = []
    escaped.reserveCapacity(json.count + 64)
    for byte in json {
      switch byte {
      case UInt8(ascii: "<"): escaped += Array("\\u003c".utf8)
      case UInt8(ascii: ">"): escaped += Array("\\u003e".utf8)
      case UInt8(ascii: "&"): escaped += Array("\\u0026".utf8)
      default: escaped.append(byte)
      }
    }
    return escaped
  }
}
