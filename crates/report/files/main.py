

if __name__ == "__main__":
    try:
        shows = still_fails()
    except Undecided as why:
        print(why)
        sys.exit(2)
    print("the failure shows" if shows else "the failure does not show")
    sys.exit(1 if shows else 0)
