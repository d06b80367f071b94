public enum Own {
  public static let module = "OIDC"
}
