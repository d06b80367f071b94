// Echoes messages with java.net.http's WebSocket: java JDKClient.java URL. Prints `ok` and exits with 0 on success.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

public class JDKClient implements WebSocket.Listener {
  private final LinkedBlockingQueue<String> messages = new LinkedBlockingQueue<>();
  private final StringBuilder partial = new StringBuilder();

  @Override
  public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean isLast) {
    partial.append(data);
    if (isLast) {
      messages.add(partial.toString());
      partial.setLength(0);
    }
    socket.request(1);
    return null;
  }

  @Override
  public CompletionStage<?> onPong(WebSocket socket, ByteBuffer payload) {
    messages.add("pong");
    socket.request(1);
    return null;
  }

  private void expect(String text) throws Exception {
    String received = messages.poll(60, TimeUnit.SECONDS);
    if (!text.equals(received)) throw new AssertionError("received " + received);
  }

  public static void main(String[] arguments) throws Exception {
    JDKClient client = new JDKClient();
    WebSocket socket =
        HttpClient.newHttpClient().newWebSocketBuilder().buildAsync(URI.create(arguments[0]), client).get(60, TimeUnit.SECONDS);
    for (String text : new String[] {"Grüße, Ada – 你好 👋", "", "x".repeat(126), "x".repeat(70000)}) {
      for (int round = 0; round < 2; round++) {
        socket.sendText(text, true).get(60, TimeUnit.SECONDS);
        client.expect(text);
      }
    }
    socket.sendPing(ByteBuffer.wrap(new byte[] {1})).get(60, TimeUnit.SECONDS);
    client.expect("pong");
    socket.sendClose(WebSocket.NORMAL_CLOSURE, "done").get(60, TimeUnit.SECONDS);
    System.out.println("ok");
    System.exit(0);
  }
}
