print("sojourn")
