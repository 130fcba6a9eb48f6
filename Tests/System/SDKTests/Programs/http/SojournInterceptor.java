import java.io.IOException;
import okhttp3.Interceptor;
import okhttp3.Request;
import okhttp3.Response;

/** Completes each call of an OkHttpClient, and repeats it once after a 401. */
final class SojournInterceptor implements Interceptor {
    /** What your client offers. Both wait, and must not use the OkHttpClient that has this interceptor. */
    interface Session {
        /** The fields `Authorization` and, for a bound session, `DPoP` (else null). */
        String[] authorize(String method, String url) throws IOException;

        void reject(String authorization) throws IOException;
    }

    private final Session session;

    SojournInterceptor(Session session) {
        this.session = session;
    }

    @Override
    public Response intercept(Chain chain) throws IOException {
        Request first = authorized(chain.request());
        Response response = chain.proceed(first);
        boolean isRepeatable = first.body() == null || !first.body().isOneShot();
        if (response.code() != 401 || !isRepeatable) {
            return response;
        }
        response.close();
        session.reject(first.header("Authorization"));
        return chain.proceed(authorized(chain.request()));
    }

    private Request authorized(Request request) throws IOException {
        String[] fields = session.authorize(request.method(), request.url().toString());
        Request.Builder builder = request.newBuilder().header("Authorization", fields[0]);
        return (fields[1] == null ? builder : builder.header("DPoP", fields[1])).build();
    }
}
