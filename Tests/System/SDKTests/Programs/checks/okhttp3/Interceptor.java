package okhttp3;

/** The part of OkHttp 4 that the recipe of the manual uses. */
public interface Interceptor {
    Response intercept(Chain chain) throws java.io.IOException;

    interface Chain {
        Request request();

        Response proceed(Request request) throws java.io.IOException;
    }
}
