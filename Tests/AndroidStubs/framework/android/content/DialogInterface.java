package android.content;

public interface DialogInterface {
    public interface OnClickListener {
        void onClick(DialogInterface dialog, int which);
    }
}
