using System;

/// <summary>Logs in, calls, and says how the session is: `Program.exe FOLDER SERVER login NAME PASSWORD` or `… call`.</summary>
public static class Program
{
    public static int Main(string[] words)
    {
        var session = new Session(words[1], "mobile", new FileStore(words[0]));
        try
        {
            if (words[2] == "login") session.SignIn(words[3], words[4]).Wait();
            Console.WriteLine((int)session.Call(words[1] + "/v1/me").Result);
            return 0;
        }
        catch (AggregateException error) when (error.InnerException is SessionException)
        {
            var failure = (SessionException)error.InnerException;
            Console.WriteLine(failure.Code + (failure.Reason == null ? "" : ": " + failure.Reason));
            return 1;
        }
    }
}
