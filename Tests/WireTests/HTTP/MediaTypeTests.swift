import ParleyWire
import Testing

@Suite struct MediaTypeTests {
  @Test func `a media type is parsed with its parameters`() {
    #expect(MediaType("Text/HTML; Charset=\"UTF-8\"; a=b ;")?["charset"] == "UTF-8")
    #expect(MediaType("Text/HTML")?.essence == "text/html")
    #expect(MediaType("application/json;charset=utf-8")?.isJSON == true)
    #expect(MediaType("application/merge-patch+json")?.isJSON == false)
    for text in [
      "", "text", "text/", "/html", "text /html", "text/html;a", "text/html;a=", "text/html;a=b;A=c", "text/html x",
      "text/html;a=\"b",
    ] {
      #expect(MediaType(text) == nil)
    }
  }
}
