import Testing

@testable import Mail

/// Replies as the mail programs of 2024 to 2026 write them.
@Suite struct ReplyTextTests {
  struct Reply: Sendable, CustomTestStringConvertible {
    let program: String
    let text: String
    var answer = "Thursday is fine.\n\nBring the key."
    var testDescription: String { program }
  }

  private static let quote = "> Ada mentioned you\n>\n> > When?\n>\n> -- \n> Garden\n"
  private static let answer = "Thursday is fine.\n\nBring the key.\n"

  private static func introduced(_ program: String, _ introduction: String) -> Reply {
    Reply(program: program, text: "\(answer)\n\(introduction)\n\n\(quote)")
  }

  private static func headed(_ program: String, _ header: String) -> Reply {
    Reply(program: program, text: "\(answer)\n\(header)\n\nAda mentioned you\n\nWhen?\n")
  }

  private static let introductions = [
    introduced("Gmail en", "On Sun, Nov 29, 2026 at 5:05 PM Garden <noreply@example.org> wrote:"),
    introduced(
      "Gmail en, folded", "On Sun, Nov 29, 2026 at 5:05 PM The Long Name of a Garden <\nnoreply@example.org> wrote:"),
    introduced("Gmail de", "Am So., 29. Nov. 2026 um 17:05 Uhr schrieb Garden <noreply@example.org>:"),
    introduced(
      "Gmail de, folded",
      "Am So., 29. Nov. 2026 um 17:05 Uhr schrieb The Long Name of a Garden <\nnoreply@example.org>:"),
    introduced("Gmail fr", "Le dim. 29 nov. 2026 à 17:05, Garden <noreply@example.org> a écrit :"),
    introduced("Gmail es", "El dom, 29 nov 2026 a las 17:05, Garden (<noreply@example.org>) escribió:"),
    introduced("Gmail ja", "2026年11月29日(日) 17:05 Garden <noreply@example.org>:"),
    introduced(
      "Gmail ar", "في الأحد، 29 نوفمبر 2026 في 5:05 م تمت كتابة ما يلي بواسطة Garden <‪noreply@example.org‬‏>:"),
    introduced("Apple Mail en", "On 29 Nov 2026, at 17:05, Garden <noreply@example.org> wrote:"),
    introduced("Apple Mail de", "Am 29.11.2026 um 17:05 schrieb Garden <noreply@example.org>:"),
    introduced("Apple Mail fr", "Le 29 nov. 2026 à 17:05, Garden <noreply@example.org> a écrit :"),
    introduced("Apple Mail es", "El 29 nov 2026, a las 17:05, Garden <noreply@example.org> escribió:"),
    introduced("Apple Mail ja", "2026/11/29 17:05、Garden <noreply@example.org>のメール:"),
    introduced("Apple Mail ar", "في ٢٩ نوفمبر ٢٠٢٦، الساعة ٥:٠٥ م، كتب Garden <noreply@example.org>:"),
    introduced("Thunderbird en", "On 29.11.26 17:05, Garden wrote:"),
    introduced("Thunderbird de", "Am 29.11.26 um 17:05 schrieb Garden:"),
    introduced("Thunderbird fr", "Le 29/11/2026 à 17:05, Garden a écrit :"),
    introduced("Thunderbird es", "El 29/11/26 a las 17:05, Garden escribió:"),
    introduced("Thunderbird ja", "On 2026/11/29 17:05, Garden wrote:"),
    introduced("Thunderbird ar", "في 29/11/2026 5:05 م، كتب Garden:"),
  ]

  private static let headers = [
    headed(
      "Outlook en",
      "________________________________\nFrom: Garden <noreply@example.org>\nSent: Sunday, November 29, 2026 5:05 PM\nTo: Grace\nSubject: Ada"
    ),
    headed(
      "Outlook de",
      "________________________________\nVon: Garden <noreply@example.org>\nGesendet: Sonntag, 29. November 2026 17:05\nAn: Grace\nBetreff: Ada"
    ),
    headed(
      "Outlook fr",
      "________________________________\nDe : Garden <noreply@example.org>\nEnvoyé : dimanche 29 novembre 2026 17:05\nÀ : Grace\nObjet : Ada"
    ),
    headed(
      "Outlook es",
      "________________________________\nDe: Garden <noreply@example.org>\nEnviado: domingo, 29 de noviembre de 2026 17:05\nPara: Grace\nAsunto: Ada"
    ),
    headed(
      "Outlook ja",
      "________________________________\n差出人: Garden <noreply@example.org>\n送信日時: 2026年11月29日 17:05\n宛先: Grace\n件名: Ada"
    ),
    headed(
      "Outlook ar",
      "________________________________\nمن: Garden <noreply@example.org>\nتم الإرسال: الأحد، 29 نوفمبر 2026 5:05 م\nإلى: Grace\nالموضوع: Ada"
    ),
    headed("Outlook 2016 en", "-----Original Message-----\nFrom: Garden\nSent: Sunday\nTo: Grace"),
    headed("Outlook 2016 de", "-----Ursprüngliche Nachricht-----\nVon: Garden\nGesendet: Sonntag\nAn: Grace"),
    headed("Outlook 2016 fr", "-----Message d'origine-----\nDe : Garden\nEnvoyé : dimanche\nÀ : Grace"),
    headed("Outlook 2016 es", "-----Mensaje original-----\nDe: Garden\nEnviado el: domingo\nPara: Grace"),
    headed("Outlook for the web", "*From:* Garden <noreply@example.org>\n*Sent:* Sunday\n*To:* Grace\n*Subject:* Ada"),
  ]

  private static let others = [
    Reply(program: "a quote above", text: "On 29.11.26 17:05, Garden wrote:\n\(quote)\n\(answer)"),
    Reply(
      program: "a quote above and a signature",
      text: "Am 29.11.26 um 17:05 schrieb Garden:\n\(quote)\n\(answer)\n-- \nGrace\n"),
    Reply(
      program: "a signature above the quote", text: "\(answer)-- \nGrace\n\nOn 29.11.26 17:05, Garden wrote:\n\(quote)"),
    Reply(
      program: "an iPhone",
      text: "\(answer)\n\nSent from my iPhone\n\n> On 29 Nov 2026, at 17:05, Garden wrote:\n> \n> When?\n"),
    Reply(program: "an iPhone de", text: "\(answer)\n\nVon meinem iPhone gesendet\n"),
    Reply(program: "an iPhone fr", text: "\(answer)\n\nEnvoyé de mon iPhone\n"),
    Reply(program: "an iPhone es", text: "\(answer)\n\nEnviado desde mi iPhone\n"),
    Reply(program: "an iPhone ja", text: "\(answer)\n\niPhoneから送信\n"),
    Reply(program: "an iPhone ar", text: "\(answer)\n\nأُرسلت من الـ iPhone\n"),
    Reply(program: "Outlook for a phone", text: "\(answer)\nGet Outlook for iOS<https://aka.ms/o0ukef>\n"),
    Reply(program: "nothing", text: answer),
    Reply(
      program: "a quote that the answer keeps", text: "> When?\n\nThursday\n\n> Who?\n\nAda: you and me\n",
      answer: "> When?\n\nThursday\n\n> Who?\n\nAda: you and me"),
    Reply(
      program: "a list of words with colons", text: "To do:\nFrom: home\nwe go on: now\n",
      answer: "To do:\nFrom: home\nwe go on: now"),
    Reply(
      program: "a rule and a table", text: "a\n\n---\n\n| a | b |\n|---|---|\n",
      answer: "a\n\n---\n\n| a | b |\n|---|---|"),
    Reply(program: "an answer that ends with a colon", text: "Note this:\n\n> When?\n", answer: "Note this:"),
    Reply(program: "only a quote", text: "On 29.11.26 17:05, Garden wrote:\n\(quote)", answer: ""),
    Reply(program: "white space", text: " \n\t\n", answer: ""),
  ]

  @Test(arguments: introductions + headers + others)
  func `the new text remains`(reply: Reply) {
    #expect(ReplyText.withoutQuotes(reply.text) == reply.answer)
  }

  @Test func `a long text of any kind is read in linear time`() {
    for line in ["> x\n", "_____________________\n\n", "From: x\n", "wrote:\n", "-----a-----b\n", "\n"] {
      _ = ReplyText.withoutQuotes(String(repeating: line, count: 20_000))
    }
  }

  @Test(arguments: [
    ("one \ntwo\n", "one two\n"), ("> one \n> two\nthree", "> one two\nthree"), ("-- \nGrace", "-- \nGrace"),
    (" From here\n", "From here\n"), ("one \n> two", "one \n> two"),
  ])
  func `lines that go on are joined`(text: String, unfolded: String) {
    #expect(FlowedText.unfolded(text, deletesSpace: false) == unfolded)
  }

  @Test func `the space at the end may be no part of the text`() {
    #expect(FlowedText.unfolded("日本 \n語", deletesSpace: true) == "日本語")
  }

  @Test(arguments: [
    ("<p>One</p><p>Two &amp; &lt;three&gt;&nbsp;&#8364;&#x20ac;</p>", "One\n\nTwo & <three> €€"),
    ("<head><title>x</title><style>p{}</style></head>a<script>b</script><br>c", "a\nc"),
    ("<div>yes</div><blockquote>When?<br>Where?</blockquote>", "yes\n> When?\n> Where?"),
    ("a<!-- <p>b</p> -->c", "ac"), ("1 < 2 & 3 &unknown; <", "1 < 2 & 3 &unknown; <"), ("<p", "<p"),
  ])
  func `HTML becomes text`(html: String, text: String) {
    #expect(MailHTML.text(html).trimmingEmptyLines == text)
  }
}

extension String {
  fileprivate var trimmingEmptyLines: String {
    var lines = split(separator: "\n", omittingEmptySubsequences: false)
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines.drop(while: \.isEmpty).joined(separator: "\n")
  }
}
