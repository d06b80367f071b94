public enum Own {
  public static let module = "Dialects"
}
