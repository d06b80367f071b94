public enum Own {
  public static let module = "Imports"
}
